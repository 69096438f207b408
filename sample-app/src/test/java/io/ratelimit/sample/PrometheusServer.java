package io.ratelimit.sample;

import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.json.JsonParserFactory;

/** The Prometheus of this machine, which scrapes instances of the sample every second. */
final class PrometheusServer implements AutoCloseable {

    private final HttpClient client = HttpClient.newHttpClient();

    private final int port;

    private final Process process;

    private PrometheusServer(int port, Process process) {
        this.port = port;
        this.process = process;
    }

    /** Returns the program of this name in the directories of the PATH. */
    static Optional<Path> find(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(directory -> Path.of(directory, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    static PrometheusServer start(Path program, Path directory, Path rules, List<Sample> samples) throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        Path configuration = directory.resolve("prometheus.yml");
        Files.writeString(configuration, """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: ["%s"]
                scrape_configs:
                  - job_name: sample
                    metrics_path: /actuator/prometheus
                    static_configs: [{targets: [%s]}]
                """.formatted(
                        rules.toAbsolutePath(),
                        samples.stream()
                                .map(sample -> "\"127.0.0.1:" + sample.port() + "\"")
                                .collect(Collectors.joining(", "))));
        Process process = new ProcessBuilder(
                        program.toString(),
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        return new PrometheusServer(port, process);
    }

    /** Returns when every instance was scraped at least twice, so that there are rates. */
    void awaitScrapes(int instances) {
        await().atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> query("count_over_time(up[1m]) >= 3").size() == instances);
    }

    /** Evaluates the expression now. */
    List<Object> query(String expression) throws IOException, InterruptedException {
        return list(get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8)), "result");
    }

    /** Returns the groups of rules, with the result of their last evaluation. */
    List<Object> ruleGroups() throws IOException, InterruptedException {
        return list(get("/api/v1/rules"), "groups");
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Map<String, Object> answer, String name) {
        return (List<Object>) ((Map<String, Object>) answer.get("data")).get(name);
    }

    private Map<String, Object> get(String uri) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + uri))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(response.body());
        }
        return JsonParserFactory.getJsonParser().parseMap(response.body());
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException ex) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
