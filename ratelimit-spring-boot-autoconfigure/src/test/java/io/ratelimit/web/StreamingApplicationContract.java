package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** Tests of an application with a {@link StreamedPieces} bean, whose responses are written and read piece by piece. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class StreamingApplicationContract {

    private final WebApplicationType type;

    private final Class<?> application;

    private final String[] properties;

    private ConfigurableApplicationContext context;

    StreamingApplicationContract(WebApplicationType type, Class<?> application, String... properties) {
        this.type = type;
        this.application = application;
        this.properties = properties;
    }

    @BeforeAll
    final void start() {
        context = new SpringApplicationBuilder(application)
                .web(type)
                .run(Stream.concat(
                                Stream.of(
                                        "server.port=0",
                                        "server.address=127.0.0.1",
                                        "spring.main.banner-mode=off",
                                        "ratelimit.store=in-memory"),
                                Stream.of(properties))
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
    }

    @AfterAll
    final void stop() {
        context.close();
    }

    @BeforeEach
    final void clearPieces() {
        pieces().clear();
    }

    final StreamedPieces pieces() {
        return context.getBean(StreamedPieces.class);
    }

    final RateLimiter limiter(String name) {
        return context.getBean(RateLimiterRegistry.class).get(name);
    }

    /** Reads the whole response. */
    final RawHttp.Answer get(String path) {
        return new RawHttp(port()).send("GET /" + path);
    }

    /** Begins to read a response. */
    final StreamedResponse open(String path) throws IOException {
        return new StreamedResponse(path);
    }

    private int port() {
        return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    /** A response that is read piece by piece. */
    final class StreamedResponse implements AutoCloseable {

        private final Socket socket;

        private final BufferedReader lines;

        private StreamedResponse(String path) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port());
            socket.setSoTimeout(60_000);
            socket.getOutputStream()
                    .write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                            .getBytes(StandardCharsets.ISO_8859_1));
            lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        /** Has the handler write a piece, and reads it. */
        void pass(String piece) throws IOException {
            pieces().write(piece);
            readUntil(piece);
        }

        void readUntil(String expected) throws IOException {
            String line = lines.readLine();
            while (line == null || !line.contains(expected)) {
                assertThat(line).as("before " + expected).isNotNull();
                line = lines.readLine();
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
