import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Runs an older sample and this one beside each other on one Redis, as during a rolling deployment, and checks what they share.
 *
 * <pre>
 * java scripts/Upgrade.java older.jar newer.jar [scenario]...
 * </pre>
 *
 * Limits are URL rules of paths that nothing serves: 404 is a call that was admitted. {@code check-upgrade.sh} builds the jars.
 */
final class Upgrade {

    /** A limit, and what both instances do with it. An older version may not have what it needs. */
    private record Scenario(String name, String properties, Check check) {}

    @FunctionalInterface
    private interface Check {
        void run() throws Exception;
    }

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    private final HttpClient client = HttpClient.newHttpClient();

    private final ExecutorService threads = Executors.newCachedThreadPool();

    private final List<Process> processes = new ArrayList<>();

    private final List<String> failures = new ArrayList<>();

    private final Path directory = Path.of("target", "upgrade");

    private final List<Scenario> scenarios = List.of(
            limit("token-bucket", "rate=10/h", () -> shared("token-bucket", 10)),
            limit("interval", "rate=10/h refill=interval", () -> shared("interval", 10)),
            limit("fixed-window", "rate=10/h algorithm=fixed-window", () -> shared("fixed-window", 10)),
            limit("sliding-window", "rate=10/h algorithm=sliding-window", () -> shared("sliding-window", 10)),
            limit("sliding-window-log", "rate=10/h algorithm=sliding-window-log", () -> shared("sliding-window-log", 10)),
            limit("calendar", "rate=10/month algorithm=fixed-window", () -> shared("calendar", 10)),
            limit("at-once", "rate=200/h", () -> atOnce("at-once", 400, 200, 200)),
            limit("max-wait", "rate=5/s max-wait=1s", () -> atOnce("max-wait", 40, 10, 16)),
            limit("leaky-bucket", "rate=4/s capacity=3 algorithm=leaky-bucket", () -> atOnce("leaky-bucket", 20, 3, 8)),
            limit("lease", "rate=100/h lease=10", () -> atOnce("lease", 300, 100, 100)),
            limit("plans", "rate=4/h plans.pro.rate=20/h plan-expression=header('X-Plan')", this::plans),
            limit("block", "rate=10/s capacity=2 block-for=3s", this::block),
            limit("cost", "rate=20/h permits=5 permits-after=#status==404?1:5", () -> admitted("cost", 24, 16)),
            limit("hold", "algorithm=concurrency capacity=2 hold=1s", this::hold),
            limit("queue", "algorithm=concurrency capacity=1 hold=1s max-wait=9s", this::queue),
            limit("override", "rate=10/h", this::override),
            limit("bucket", "rate=10/h", this::bucket),
            limit("instances", "rate=1/h", this::instances),
            limit("lease-of-the-older", "rate=20/h lease=10", this::shutDown));

    private int older;

    private int newer;

    private int redis;

    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2) {
            System.err.println("java scripts/Upgrade.java older.jar newer.jar [scenario]...");
            System.exit(2);
        }
        Upgrade upgrade = new Upgrade();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> upgrade.processes.forEach(Process::destroyForcibly)));
        List<String> chosen = List.of(arguments).subList(2, arguments.length);
        for (boolean functionsOfTheOlder : new boolean[] {true, false}) {
            upgrade.round(Path.of(arguments[0]), Path.of(arguments[1]), functionsOfTheOlder, chosen);
        }
        upgrade.failures.forEach(System.err::println);
        System.exit(upgrade.failures.isEmpty() ? 0 : 1);
    }

    private void round(Path olderJar, Path newerJar, boolean functions, List<String> chosen) throws Exception {
        String round = functions ? "functions" : "scripts of the older, functions of the newer";
        System.out.println(round);
        Path logs = Files.createDirectories(directory.resolve(functions ? "functions" : "scripts"));
        redis = freePort();
        String executable = System.getenv().getOrDefault("RATELIMIT_TEST_REDIS_SERVER", "redis-server");
        Process server = start(
                logs.resolve("redis.log"), List.of(executable, "--port", "" + redis, "--bind", "127.0.0.1", "--save", ""));
        List<Scenario> now = scenarios.stream().filter(each -> chosen.isEmpty() || chosen.contains(each.name)).toList();
        older = freePort();
        newer = freePort();
        Process first = instance(olderJar, older, functions, now, logs.resolve("older.log"));
        Process second = instance(newerJar, newer, true, now, logs.resolve("newer.log"));
        for (Scenario scenario : now) {
            try {
                scenario.check.run();
                System.out.println("  " + scenario.name);
            } catch (Exception | AssertionError failure) {
                System.out.println("  " + scenario.name + " FAILED");
                failures.add(round + ", " + scenario.name + ": " + failure);
            }
        }
        String statistics = redis("INFO", "commandstats");
        for (String command : List.of("function|load", "script|load", "eval")) {
            Matcher calls = Pattern.compile("cmdstat_" + Pattern.quote(command) + ":calls=(\\d+)").matcher(statistics);
            long count = calls.find() ? Long.parseLong(calls.group(1)) : 0;
            System.out.println("  " + command + ": " + count);
            if (count > 12) {
                failures.add(round + ": " + command + " was called " + count + " times");
            }
        }
        for (Process process : List.of(first, second, server)) {
            process.destroy();
            process.waitFor();
        }
        for (String log : List.of("older.log", "newer.log")) {
            Files.readAllLines(logs.resolve(log)).stream()
                    .filter(line -> line.contains(" ERROR ") || line.contains(" WARN ") && line.contains("io.ratelimit"))
                    .forEach(line -> failures.add(round + ", " + log + ": " + line));
        }
    }

    /** Both count in one bucket: calls in turn see each other's, one by one, and no more than the capacity is admitted. */
    private void shared(String limit, int capacity) throws Exception {
        for (int call = 0; call < capacity + 6; call++) {
            HttpResponse<String> response = call(call % 2 == 0 ? older : newer, limit, "alice");
            int left = capacity - 1 - call;
            check(response.statusCode() == (left >= 0 ? 404 : 429), "call " + call + " was answered " + response.statusCode());
            check(remaining(response) == Math.max(left, 0), "call " + call + " left " + remaining(response));
        }
    }

    private void admitted(String limit, int calls, int expected) throws Exception {
        int admitted = 0;
        for (int call = 0; call < calls; call++) {
            admitted += call(call % 2 == 0 ? older : newer, limit, "alice").statusCode() == 404 ? 1 : 0;
        }
        check(admitted == expected, admitted + " calls were admitted instead of " + expected);
    }

    private void atOnce(String limit, int calls, int least, int most) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> responses = IntStream.range(0, calls)
                .mapToObj(call -> client.sendAsync(request(call % 2 == 0 ? older : newer, limit, "alice"), BodyHandlers.ofString()))
                .toList();
        int admitted = 0;
        for (var response : responses) {
            int status = response.get(1, TimeUnit.MINUTES).statusCode();
            check(status == 404 || status == 429, "a call was answered " + status);
            admitted += status == 404 ? 1 : 0;
        }
        check(admitted >= least && admitted <= most, admitted + " calls were admitted instead of " + least + " to " + most);
    }

    private void plans() throws Exception {
        for (int call = 0; call < 20; call++) {
            HttpResponse<String> response = call(call % 2 == 0 ? older : newer, "plans", "alice", "X-Plan", "pro");
            check(response.statusCode() == 404 && remaining(response) == 19 - call, "call " + call + " left " + remaining(response));
        }
        for (int port : List.of(older, newer)) {
            check(call(port, "plans", "alice", "X-Plan", "pro").statusCode() == 429, "more than the plan was admitted");
            check(call(port, "plans", "alice").statusCode() == 429, "the limit's own numbers do not see the calls of the plan");
        }
    }

    private void block() throws Exception {
        for (int port : List.of(older, newer)) {
            String key = port == older ? "by-the-older" : "by-the-newer";
            int other = port == older ? newer : older;
            await(() -> call(port, "block", key).statusCode() == 429, Duration.ofSeconds(5));
            long since = System.nanoTime();
            TimeUnit.SECONDS.sleep(1);
            check(call(other, "block", key).statusCode() == 429, "the other admits a blocked key");
            await(() -> call(other, "block", key).statusCode() == 404, Duration.ofSeconds(10));
            check(System.nanoTime() - since >= Duration.ofMillis(2500).toNanos(), "a block ended early");
        }
    }

    /** One call in each instance, longer than the permits are held without renewal. */
    private void hold() throws Exception {
        CompletableFuture<Void> end = new CompletableFuture<>();
        List<CompletableFuture<Integer>> calls = List.of(slow(older, "hold", end), slow(newer, "hold", end));
        for (int port : List.of(older, newer)) {
            awaitCall(port, "hold");
        }
        long later = System.nanoTime() + Duration.ofSeconds(4).toNanos();
        while (System.nanoTime() < later) {
            for (int port : List.of(older, newer)) {
                int status = slow(port, "hold", DONE).get();
                check(status == 429, "a third call was answered " + status);
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
        end.complete(null);
        for (CompletableFuture<Integer> call : calls) {
            check(call.get() == 200, "a call was answered " + call.get());
        }
        for (int port : List.of(older, newer)) {
            await(() -> slow(port, "hold", DONE).get() == 200, Duration.ofSeconds(2));
        }
    }

    /** A call that waits in one instance goes on when that in the other ends. */
    private void queue() throws Exception {
        for (int port : List.of(older, newer)) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            CompletableFuture<Integer> first = slow(port, "queue", end);
            awaitCall(port, "queue");
            CompletableFuture<Integer> second = slow(port == older ? newer : older, "queue", DONE);
            TimeUnit.SECONDS.sleep(2);
            check(!second.isDone(), "the second call did not wait");
            end.complete(null);
            check(first.get() == 200, "the first call was answered " + first.get());
            check(second.get(2, TimeUnit.SECONDS) == 200, "the second call was answered " + second.get());
        }
    }

    private void awaitCall(int port, String limit) throws Exception {
        await(() -> actuator(port, "GET", "/" + limit, "").contains("\"permitsInUse\":1"), Duration.ofSeconds(10));
    }

    /** A request whose body comes at the end is in the application until then. These paths read the body. */
    private CompletableFuture<Integer> slow(int port, String limit, CompletableFuture<Void> end) {
        String body = (limit.equals("hold") ? "username=" : "account=") + System.nanoTime();
        String head = "POST " + path(limit) + " HTTP/1.1\r\nHost: localhost\r\nX-Key: alice\r\nConnection: close\r\n"
                + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: " + body.length() + "\r\n\r\n";
        return CompletableFuture.supplyAsync(
                () -> {
                    try (Socket socket = new Socket("127.0.0.1", port)) {
                        socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
                        end.join();
                        socket.getOutputStream().write(body.getBytes(StandardCharsets.US_ASCII));
                        String response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                        return Integer.parseInt(response.split(" ", 3)[1]);
                    } catch (IOException failure) {
                        throw new IllegalStateException(failure);
                    }
                },
                threads);
    }

    private static String path(String limit) {
        return switch (limit) {
            case "hold" -> "/api/login";
            case "queue" -> "/api/payments";
            default -> "/upgrade/" + limit;
        };
    }

    private void override() throws Exception {
        int key = 0;
        for (int port : List.of(older, newer, older)) {
            int capacity = 3 + key++;
            String caller = "caller-" + key;
            int other = port == older ? newer : older;
            actuator(port, "POST", "/override", "{\"capacity\":" + capacity + "}");
            for (int each : List.of(port, other)) {
                await(() -> actuator(each, "GET", "/override", "").contains("\"capacity\":" + capacity), Duration.ofMillis(1500));
            }
            for (int call = 0; call < capacity + 2; call++) {
                int status = call(call % 2 == 0 ? other : port, "override", caller).statusCode();
                check(status == (call < capacity ? 404 : 429), "with a capacity of " + capacity + " call " + call + " was answered " + status);
            }
            actuator(other, "DELETE", "/override", "");
            for (int each : List.of(port, other)) {
                String next = "next-" + each + key;
                await(() -> remaining(call(each, "override", next)) > capacity, Duration.ofMillis(1500));
            }
        }
    }

    private void bucket() throws Exception {
        for (int port : List.of(older, newer)) {
            int other = port == older ? newer : older;
            String key = "key-" + port;
            check(remaining(call(other, "bucket", key)) == 9, "a new bucket is not full");
            actuator(port, "POST", "/bucket?key=" + key, "{\"blockFor\":\"1h\"}");
            await(() -> call(other, "bucket", key).statusCode() == 429, Duration.ofMillis(1500));
            actuator(port, "DELETE", "/bucket?key=" + key, "");
            await(() -> call(other, "bucket", key).statusCode() == 404, Duration.ofMillis(2500));
        }
    }

    /** Each instance shows both, and what they have counted together. */
    private void instances() throws Exception {
        for (int port : List.of(older, newer)) {
            call(port, "instances", "alice");
        }
        for (int port : List.of(older, newer)) {
            await(
                    () -> actuator(port, "GET", "", "").split("\"startedAt\"", -1).length == 3
                            && actuator(port, "GET", "/instances", "").contains("\"lastMinute\":{\"allowed\":1,\"rejected\":1,"),
                    Duration.ofSeconds(15));
        }
    }

    /** The older is stopped: what it has leased comes back to the newer. */
    private void shutDown() throws Exception {
        for (int call = 0; call < 5; call++) {
            call(older, "lease-of-the-older", "alice");
        }
        int admitted = 5;
        Process first = processes.get(processes.size() - 2);
        first.destroy();
        first.waitFor();
        while (call(newer, "lease-of-the-older", "alice").statusCode() == 404) {
            admitted++;
        }
        check(admitted == 20, admitted + " calls were admitted, with those of the older");
    }

    private static Scenario limit(String name, String properties, Check check) {
        return new Scenario(name, properties, check);
    }

    private Process instance(Path jar, int port, boolean functions, List<Scenario> now, Path log) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toString(),
                "--server.port=" + port,
                "--spring.data.redis.host=127.0.0.1",
                "--spring.data.redis.port=" + redis,
                // A machine that is busy is not what is checked.
                "--ratelimit.redis.timeout=5s",
                "--ratelimit.on-store-failure=reject"));
        if (!functions) {
            command.add("--ratelimit.redis.functions=false");
        }
        for (int index = 0; index < now.size(); index++) {
            Scenario scenario = now.get(index);
            command.add("--ratelimit.http[" + index + "].path=" + path(scenario.name));
            command.add("--ratelimit.http[" + index + "].limit=" + scenario.name);
            for (String property : (scenario.properties + " key-expression=header('X-Key')").split(" ")) {
                command.add("--ratelimit.limits." + scenario.name + "." + property);
            }
        }
        Process process = start(log, command);
        await(
                () -> {
                    check(process.isAlive(), jar + " did not start: " + log);
                    return Files.readString(log).contains("Started ");
                },
                Duration.ofMinutes(2));
        return process;
    }

    private Process start(Path log, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        processes.add(process);
        return process;
    }

    private HttpResponse<String> call(int port, String limit, String key, String... headers) throws Exception {
        return client.send(request(port, limit, key, headers), BodyHandlers.ofString());
    }

    private static HttpRequest request(int port, String limit, String key, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path(limit)))
                .header("X-Key", key);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }

    private String actuator(int port, String method, String resource, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/ratelimits" + resource))
                .header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
        check(response.statusCode() < 300, method + " of " + resource + " was answered " + response.statusCode() + ": " + response.body());
        return response.body();
    }

    private static int remaining(HttpResponse<String> response) {
        Matcher remaining = Pattern.compile("r=(\\d+)").matcher(response.headers().firstValue("RateLimit").orElse(""));
        return remaining.find() ? Integer.parseInt(remaining.group(1)) : -1;
    }

    private String redis(String... command) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", redis)) {
            socket.getOutputStream().write((String.join(" ", command) + "\r\nQUIT\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    private static void await(Callable<Boolean> condition, Duration longest) throws Exception {
        long end = System.nanoTime() + longest.toNanos();
        while (!condition.call()) {
            check(System.nanoTime() < end, "not within " + longest.toMillis() + " ms");
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    private static void check(boolean holds, String failure) {
        if (!holds) {
            throw new AssertionError(failure);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
