package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A process of a packaged application, known by what it answers and logs. It ends with the JVM at the latest. */
final class Application {

    /** How long anything may take, on a machine that has much else to do. */
    static final Duration PATIENCE = Duration.ofSeconds(180);

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);

    /** How many applications of each module were started. */
    private static final Map<String, Integer> STARTED = new ConcurrentHashMap<>();

    private static final Redis REDIS = Redis.start();

    // Started together, so that each test finds its own running. Servlet and reactive share the buckets.

    static final Application SERVLET = start("servlet", withAccess(REDIS.properties()));

    static final Application REACTIVE = start("reactive", withDashboardAt("/ops/limits", withAccess(REDIS.properties())));

    /** Without Lettuce. A decision and the driver may take as long as a request, so that a test can hold them up. */
    static final Application JEDIS =
            start("jedis", withAccess(with(REDIS.properties(), "ratelimit.redis.timeout=60s", "spring.data.redis.timeout=60s")));

    static final Application IN_MEMORY = start("in-memory", withDashboardAt("/ops/limits"));

    private static final Pattern LISTENING = Pattern.compile("(?m)^listening on (\\d+)$");

    private static final HttpClient CLIENT = client();

    private final Path jar;

    private final Path log;

    private final Process process;

    private HttpClient.Version version = HttpClient.Version.HTTP_2;

    private int port;

    private Application(Path jar, Path log, Process process) {
        this.jar = jar;
        this.log = log;
        this.process = process;
    }

    /**
     * Creates a client that may ask for a connection for each request. Some handlers respond on threads of their own. On a kept
     * connection, Reactor Netty 1.2.18 and 1.3.7 can then stop reading (reactor/reactor-netty#4361).
     */
    private static HttpClient client() {
        System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
        return HttpClient.newHttpClient();
    }

    /** Limits can be changed over HTTP. */
    private static String[] withAccess(String... properties) {
        return Stream.concat(
                        Stream.of("management.endpoint.ratelimits.access=unrestricted"), Stream.of(properties))
                .toArray(String[]::new);
    }

    private static String[] with(String[] properties, String... more) {
        return Stream.concat(Stream.of(properties), Stream.of(more)).toArray(String[]::new);
    }

    private static String[] withDashboardAt(String path, String... properties) {
        return Stream.concat(Stream.of("ratelimit.dashboard.path=" + path), Stream.of(properties))
                .toArray(String[]::new);
    }

    /** The Redis of all applications but the one in memory. */
    static Redis redis() {
        return REDIS;
    }

    static Application start(String module, String... properties) {
        Path target = Path.of(System.getProperty("acceptance.directory"), module, "target");
        Path jar = target.resolve(module + "-1.jar");
        int number = STARTED.merge(module, 1, Integer::sum);
        Path log = target.resolve(number == 1 ? "application.log" : "application-" + number + ".log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // An application lives for a minute: as little compilation as possible.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
        String options = System.getProperty("acceptance.jvm-options", "");
        if (!options.isEmpty()) {
            command.addAll(List.of(options.split(" ")));
        }
        command.addAll(List.of("-jar", jar.toString(), "--server.port=0"));
        for (String property : properties) {
            command.add("--" + property);
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            return new Application(jar, log, process);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Jetty refuses requests that ask for HTTP/2 and for a connection of their own. */
    Application overHttp1() {
        version = HttpClient.Version.HTTP_1_1;
        return this;
    }

    HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request = request(path).header("Connection", "close");
        if (headers.length > 0) {
            request.headers(headers);
        }
        return send(path, request);
    }

    /** Does not wait for the response. */
    CompletableFuture<HttpResponse<String>> getLater(String path) {
        return CLIENT.sendAsync(request(path).header("Connection", "close").build(), BodyHandlers.ofString());
    }

    HttpResponse<String> send(String method, String path, String json) {
        return send(
                path,
                request(path)
                        .header("Connection", "close")
                        .header("Content-Type", "application/json")
                        .method(method, BodyPublishers.ofString(json)));
    }

    /** Returns the status of a response on the connection that the previous call of this method has used. */
    int statusOnKeptConnection(String path) {
        return send(path, request(path).version(HttpClient.Version.HTTP_1_1)).statusCode();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .version(version)
                .timeout(REQUEST_TIMEOUT);
    }

    private HttpResponse<String> send(String path, HttpRequest.Builder request) {
        try {
            return CLIENT.send(request.build(), BodyHandlers.ofString());
        } catch (HttpTimeoutException ex) {
            dumpThreads();
            throw new UncheckedIOException("GET " + path + "; threads in " + log, ex);
        } catch (IOException ex) {
            throw new UncheckedIOException("GET " + path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    HttpResponse<String> allowed(String path, String... headers) {
        HttpResponse<String> response = get(path, headers);
        assertThat(response.statusCode())
                .as("GET %s: %s", path, response.body())
                .isEqualTo(200);
        return response;
    }

    /** A 429 by this limit, with the headers that each has. */
    void rejected(String limit, String path, String... headers) {
        HttpResponse<String> response = get(path, headers);
        assertThat(response.statusCode())
                .as("GET %s: %s", path, response.body())
                .isEqualTo(429);
        assertThat(response.headers().firstValue("RateLimit").orElse(""))
                .as("RateLimit of %s", path)
                .contains('"' + limit + "\";r=");
        assertThat(response.headers().firstValueAsLong("Retry-After").orElse(0))
                .as("Retry-After of %s", path)
                // A sliding window of a day counts until the end of the next one.
                .isBetween(1L, 2 * 86_400L);
        assertThat(JsonPath.<List<String>>read(response.body(), "$['violated-policies']"))
                .containsExactly(limit);
    }

    /** What a JSON document holds at a path such as {@code $.status}. */
    <T> T json(String path, String jsonPath) {
        return JsonPath.read(get(path).body(), jsonPath);
    }

    double meter(String name, String... tags) {
        String path = "/actuator/metrics/" + name + "?tag=" + String.join("&tag=", tags);
        return this.<List<Double>>json(path, "$.measurements[?(@.statistic == 'COUNT')].value")
                .get(0);
    }

    /** Returns the log of an application that ends by itself or cannot start, once it has ended. */
    String logOfEnd() {
        Await.until("the end in " + log, () -> !process.isAlive());
        return log();
    }

    String log() {
        try {
            return Files.readString(log);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The lines before the first request. */
    List<String> startLog() {
        port();
        return log().lines().takeWhile(line -> !LISTENING.matcher(line).find()).toList();
    }

    /** The content of a jar in the jar. */
    byte[] library(String name) {
        try (JarFile file = new JarFile(jar.toFile());
                InputStream library = file.getInputStream(file.getJarEntry("BOOT-INF/lib/" + name))) {
            return library.readAllBytes();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void dumpThreads() {
        try {
            new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid())).start().waitFor();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** Not close(), because JUnit closes the arguments of tests. */
    void stop() {
        process.destroyForcibly().onExit().join();
    }

    synchronized int port() {
        if (port == 0) {
            port = Await.value("the port in " + log, () -> {
                Matcher listening = LISTENING.matcher(log());
                if (!listening.find()) {
                    assertThat(process.isAlive()).as("The application has ended:%n%s", log()).isTrue();
                    return null;
                }
                return Integer.valueOf(listening.group(1));
            });
        }
        return port;
    }
}
