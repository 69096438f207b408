import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Stages an incident for a watcher of the dashboard: two instances of the sample, their Redis, and callers.
 *
 * <pre>
 * ./mvnw package -Dquick -pl sample-app -am
 * java scripts/Incident.java [incident] [--answer file] [--minutes 10] [--after seconds] [-- properties of the sample]
 * </pre>
 *
 * Without a name, one is drawn. It begins at a time between one and two minutes after the start, unless you say when, and is
 * written to the answer file, which the watcher reads last. Ctrl-C ends everything.
 */
final class Incident {

    private static final List<String> INCIDENTS = List.of(
            "client-in-a-retry-storm",
            "redis-killed",
            "redis-hangs",
            "one-instance-without-redis",
            "limit-too-low",
            "six-times-the-calls");

    private static final int USERS = 20;

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private static final Path DIRECTORY = Path.of("target", "incident");

    private final List<Process> processes = new ArrayList<>();

    private final List<Integer> ports = new ArrayList<>();

    private final AtomicInteger turn = new AtomicInteger();

    /** Calls of each user in ten seconds. */
    private volatile int callsInTenSeconds = 5;

    private volatile boolean storm;

    public static void main(String[] arguments) throws Exception {
        String name = INCIDENTS.get(ThreadLocalRandom.current().nextInt(INCIDENTS.size()));
        Path answer = DIRECTORY.resolve("answer.txt");
        int minutes = 10;
        int after = 60 + ThreadLocalRandom.current().nextInt(60);
        List<String> properties = List.of();
        for (int index = 0; index < arguments.length; index++) {
            switch (arguments[index]) {
                case "--answer" -> answer = Path.of(arguments[++index]);
                case "--minutes" -> minutes = Integer.parseInt(arguments[++index]);
                case "--after" -> after = Integer.parseInt(arguments[++index]);
                case "--" -> {
                    properties = Arrays.asList(arguments).subList(index + 1, arguments.length);
                    index = arguments.length;
                }
                default -> name = arguments[index];
            }
        }
        if (!INCIDENTS.contains(name)) {
            System.err.println("There is no incident " + name + ". Choose one of " + INCIDENTS + ", or none.");
            System.exit(2);
        }
        new Incident().stage(name, answer, minutes, after, properties);
    }

    private void stage(String name, Path answer, int minutes, int after, List<String> properties) throws Exception {
        Files.createDirectories(DIRECTORY);
        Files.deleteIfExists(answer);
        Runtime.getRuntime().addShutdownHook(new Thread(this::end));
        int redisPort = freePort();
        Process redis = start("redis", List.of(redisServer(), "--port", "" + redisPort, "--bind", "127.0.0.1", "--save", ""));
        Wire wire = new Wire(redisPort);
        int[] redisPorts = {redisPort, wire.port()};
        List<Process> instances = new ArrayList<>();
        for (int instance = 0; instance < 2; instance++) {
            ports.add(freePort());
            instances.add(sample(instance, redisPorts[instance], properties));
        }
        awaitInstances();
        ports.forEach(port -> System.out.println("http://127.0.0.1:" + port + "/ratelimits"));
        System.out.println("Something happens within two minutes. What it was: " + answer);

        every(100, this::calls);
        TimeUnit.SECONDS.sleep(after);
        Files.writeString(answer, name + " at " + Instant.now() + System.lineSeparator());
        switch (name) {
            case "client-in-a-retry-storm" -> storm = true;
            case "redis-killed" -> redis.destroyForcibly();
            case "redis-hangs" -> new ProcessBuilder("kill", "-STOP", "" + redis.pid()).start().waitFor();
            case "one-instance-without-redis" -> wire.cut();
            case "limit-too-low" -> {
                // A release with another configuration.
                List<String> lower = Stream.concat(Stream.of("ratelimit.limits.quotes.rate=1/5s"), properties.stream()).toList();
                for (int instance = 0; instance < 2; instance++) {
                    instances.get(instance).destroy();
                    instances.get(instance).waitFor();
                    instances.set(instance, sample(instance, redisPorts[instance], lower));
                    awaitInstances();
                }
            }
            default -> callsInTenSeconds *= 6;
        }
        TimeUnit.MINUTES.sleep(minutes);
    }

    /** What happens in a tenth of a second. */
    private void calls() {
        int tick = turn.getAndIncrement() % 100;
        for (int user = 0; user < USERS; user++) {
            // Each of the calls at another time.
            for (int call = 0; call < callsInTenSeconds; call++) {
                if ((call * 100 / callsInTenSeconds + user * 7) % 100 == tick) {
                    send("GET", "/api/quotes?user=user-" + user);
                }
            }
        }
        if (storm) {
            for (int call = 0; call < 3; call++) {
                send("GET", "/api/quotes?user=user-7");
            }
        }
        if (tick % 10 == 0) {
            send("GET", "/api/search?user=user-" + tick / 10);
            send("POST", "/api/login?username=user-" + ThreadLocalRandom.current().nextInt(1000));
        }
        if (tick % 25 == 0) {
            send("POST", "/api/reports?tenant=acme&pages=3");
            send("POST", "/api/payments?account=user-" + tick);
        }
    }

    /** To one of the instances that are there, as a load balancer does. */
    private void send(String method, String path) {
        int port = ports.get(ThreadLocalRandom.current().nextInt(ports.size()));
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(10))
                .build();
        CLIENT.sendAsync(request, BodyHandlers.discarding());
    }

    /** The connections of one instance to Redis. */
    private static final class Wire {

        private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

        private final List<Socket> sockets = new CopyOnWriteArrayList<>();

        private final int redisPort;

        Wire(int redisPort) throws IOException {
            this.redisPort = redisPort;
            start(this::accept);
        }

        int port() {
            return server.getLocalPort();
        }

        /** Ends all connections, and refuses new ones. */
        void cut() throws IOException {
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        }

        private void accept() throws IOException {
            while (true) {
                Socket instance = server.accept();
                Socket redis = new Socket(InetAddress.getLoopbackAddress(), redisPort);
                sockets.addAll(List.of(instance, redis));
                start(() -> copy(instance, redis));
                start(() -> copy(redis, instance));
            }
        }

        private static void copy(Socket from, Socket to) throws IOException {
            try (from; to; InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
                in.transferTo(out);
            }
        }

        private static void start(Transfer transfer) {
            Thread thread = new Thread(() -> {
                try {
                    transfer.run();
                } catch (IOException ex) {
                    // The connection has ended.
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private interface Transfer {

            void run() throws IOException;
        }
    }

    private static void every(int millis, Runnable task) {
        Thread thread = new Thread(() -> {
            long next = System.nanoTime();
            while (true) {
                task.run();
                next += TimeUnit.MILLISECONDS.toNanos(millis);
                try {
                    TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
                } catch (InterruptedException ex) {
                    return;
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private Process sample(int instance, int redisPort, List<String> properties) throws IOException {
        Path jar;
        try (Stream<Path> files = Files.walk(Path.of("sample-app"), 2)) {
            jar = files.filter(file -> file.getFileName().toString().matches("sample-app-[^-]+(-SNAPSHOT)?\\.jar"))
                    .findFirst()
                    .orElseThrow(() -> new IOException("Build the sample first: ./mvnw package -Dquick -pl sample-app -am"));
        }
        Map<String, String> all = new LinkedHashMap<>();
        all.put("server.port", "" + ports.get(instance));
        all.put("spring.data.redis.host", "127.0.0.1");
        all.put("spring.data.redis.port", "" + redisPort);
        properties.forEach(each -> all.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1)));
        List<String> command = new ArrayList<>(List.of(java(), "-Xmx256m", "-jar", jar.toString()));
        all.forEach((key, value) -> command.add("--" + key + "=" + value));
        return start("sample-" + instance, command);
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private Process start(String name, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(DIRECTORY.resolve(name + ".log").toFile()))
                .start();
        synchronized (processes) {
            processes.add(process);
        }
        return process;
    }

    /** The one of the PATH, or else the one in the sample. */
    private static String redisServer() throws IOException {
        for (String directory : System.getenv().getOrDefault("PATH", "").split(java.io.File.pathSeparator)) {
            if (Files.isExecutable(Path.of(directory, "redis-server"))) {
                return Path.of(directory, "redis-server").toString();
            }
        }
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac") ? "darwin" : "linux";
        String machine = System.getProperty("os.arch").equals("aarch64") ? "arm64" : "amd64";
        try (Stream<Path> files = Files.list(Path.of("sample-app", "target"))) {
            for (Path jar : files.filter(file -> file.toString().endsWith("-SNAPSHOT.jar")).toList()) {
                try (JarFile sample = new JarFile(jar.toFile())) {
                    ZipEntry library = sample.stream()
                            .filter(entry -> entry.getName().contains("/embedded-redis-"))
                            .findFirst()
                            .orElseThrow();
                    try (InputStream bytes = sample.getInputStream(library)) {
                        return unpack(bytes.readAllBytes(), system, machine);
                    }
                }
            }
        }
        throw new IOException("Build the sample first: ./mvnw package -Dquick -pl sample-app -am");
    }

    private static String unpack(byte[] library, String system, String machine) throws IOException {
        try (ZipInputStream entries = new ZipInputStream(new ByteArrayInputStream(library))) {
            for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
                String name = entry.getName();
                if (name.contains("redis-server") && name.contains(system) && name.contains(machine)) {
                    Path file = DIRECTORY.resolve("redis-server");
                    // Another incident may be running it, and such a file cannot be written.
                    Files.deleteIfExists(file);
                    Files.write(file, entries.readAllBytes());
                    if (!file.toFile().setExecutable(true)) {
                        throw new IOException(file + " cannot be made executable");
                    }
                    return file.toAbsolutePath().toString();
                }
            }
        }
        throw new IOException("There is no redis-server for " + system + " on " + machine + ". Install one.");
    }

    private void awaitInstances() throws InterruptedException {
        for (int port : ports) {
            while (true) {
                try (Socket socket = new Socket("127.0.0.1", port)) {
                    break;
                } catch (IOException ex) {
                    TimeUnit.MILLISECONDS.sleep(100);
                }
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private void end() {
        synchronized (processes) {
            processes.forEach(Process::destroyForcibly);
        }
    }
}
