package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of a packaged application, known by what it answers and logs. It ends with the JVM at the latest. */
final class Application {

    /** How long anything may take, on a machine that has much else to do. */
    static final java.time.Duration PATIENCE = java.time.Duration.ofSeconds(60);

    private static final Path DIRECTORY = Path.of(System.getProperty("acceptance.directory"));

    private static final Pattern LISTENING = Pattern.compile("(?m)^listening on (\\d+)$");

    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final Path log;

    private final Process process;

    private final int port;

    private Application(Path log, Process process) {
        this.log = log;
        this.process = process;
        this.port = awaitPort();
    }

    /** Starts the jar of a module. */
    static Application start(String module, String... properties) {
        Path target = DIRECTORY.resolve(module).resolve("target");
        Path log = target.resolve("application.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // As few processor seconds as possible: an application lives for a minute.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
        command.addAll(List.of(System.getProperty("acceptance.jvm-options", "").trim().split("\\s+")));
        command.remove("");
        command.addAll(List.of("-jar", target.resolve(module + "-1.jar").toString(), "--server.port=0"));
        for (String property : properties) {
            command.add("--" + property);
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
            return new Application(log, process);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private int awaitPort() {
        return Await.value("the port in " + log, () -> {
            if (!process.isAlive()) {
                throw new IllegalStateException("The application has ended:\n" + log());
            }
            Matcher listening = LISTENING.matcher(log());
            return listening.find() ? Integer.valueOf(listening.group(1)) : null;
        });
    }

    String log() {
        try {
            return Files.readString(log);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(PATIENCE);
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return CLIENT.send(request.build(), BodyHandlers.ofString());
        } catch (IOException ex) {
            throw new UncheckedIOException("GET " + path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    /** What a JSON document of the application holds at a path, such as {@code $.status}. */
    <T> T json(String path, String jsonPath) {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).as("GET %s: %s", path, response.body()).isLessThan(400);
        return JsonPath.read(response.body(), jsonPath);
    }

    /** The value of a meter; 0 if it has not been registered. */
    double meter(String name, String... tags) {
        StringBuilder path = new StringBuilder("/actuator/metrics/" + name);
        for (int i = 0; i < tags.length; i++) {
            path.append(i == 0 ? "?tag=" : "&tag=").append(tags[i]);
        }
        return this.<List<Double>>json(
                        path.toString(), "$.measurements[?(@.statistic in ['COUNT', 'VALUE'])].value")
                .get(0);
    }
}
