package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Requests of a URL rule hold their permits until the response is complete, or the client has gone. */
@Timeout(60)
class HeldRequestTests {

    private static final String END = "end";

    private static final String FAILURE = "failure";

    @Nested
    class OnTomcat extends Contract {

        OnTomcat() {
            super(WebApplicationType.SERVLET, ServletApplication.class);
        }
    }

    @Nested
    class OnNetty extends Contract {

        OnNetty() {
            super(WebApplicationType.REACTIVE, ReactiveApplication.class);
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {

        private final WebApplicationType type;

        private final Class<?> application;

        private ConfigurableApplicationContext context;

        Contract(WebApplicationType type, Class<?> application) {
            this.type = type;
            this.application = application;
        }

        @BeforeAll
        void start() {
            context = new SpringApplicationBuilder(application)
                    .web(type)
                    .run(
                            "--server.port=0",
                            "--server.address=127.0.0.1",
                            "--spring.main.banner-mode=off",
                            "--ratelimit.store=in-memory",
                            "--ratelimit.limits.streams.algorithm=concurrency",
                            "--ratelimit.limits.streams.capacity=1",
                            "--ratelimit.http[0].path=/stream",
                            "--ratelimit.http[0].limit=streams");
        }

        @AfterAll
        void stop() {
            context.close();
        }

        @Test
        void streamIsHeldUntilItsLastByte() throws Exception {
            try (Stream stream = new Stream(port())) {
                write("first");
                stream.readUntil("first");
                assertHeld();
                write("second");
                stream.readUntil("second");
                assertHeld();
                write(END);
                stream.readUntil("0");
            }
            awaitReleased();
        }

        @Test
        void clientThatDisconnectsReleases() throws Exception {
            try (Stream stream = new Stream(port())) {
                write("first");
                stream.readUntil("first");
                assertHeld();
            }
            // Tomcat finds out when it writes.
            await().untilAsserted(() -> {
                write("unread");
                assertThat(isFree()).isTrue();
            });
            pieces().clear();
        }

        @Test
        void failureInTheMiddleReleases() throws Exception {
            try (Stream stream = new Stream(port())) {
                write("first");
                stream.readUntil("first");
                assertHeld();
                write(FAILURE);
                awaitReleased();
            }
        }

        private void assertHeld() {
            assertThat(isFree()).isFalse();
            assertThat(new RawHttp(port()).send("GET /stream").status()).isEqualTo(429);
        }

        private void awaitReleased() {
            await().untilAsserted(() -> assertThat(isFree()).isTrue());
        }

        private boolean isFree() {
            return context.getBean(RateLimiterRegistry.class)
                    .get("streams")
                    .peek()
                    .allowed();
        }

        private void write(String piece) {
            pieces().add(piece);
        }

        private BlockingQueue<String> pieces() {
            return context.getBean(Pieces.class).queue;
        }

        private int port() {
            return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
        }
    }

    /** A request whose response is read piece by piece. */
    private static final class Stream implements AutoCloseable {

        private final Socket socket;

        private final BufferedReader response;

        Stream(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            response = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }

        void readUntil(String expected) throws IOException {
            String line = response.readLine();
            while (!expected.equals(line)) {
                assertThat(line).as("before " + expected).isNotNull();
                line = response.readLine();
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** What the handler under way writes next. */
    static final class Pieces {

        private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();

        /** Returns the next piece, or {@code null} at the end. */
        String next() throws IOException, InterruptedException {
            String piece = queue.poll(20, TimeUnit.SECONDS);
            if (FAILURE.equals(piece)) {
                throw new IOException("expected by the test");
            }
            return END.equals(piece) ? null : piece;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ServletApplication {

        @Bean
        Pieces pieces() {
            return new Pieces();
        }

        @Bean
        ServletHandler handler(Pieces pieces) {
            return new ServletHandler(pieces);
        }
    }

    @RestController
    static class ServletHandler {

        private final Pieces pieces;

        ServletHandler(Pieces pieces) {
            this.pieces = pieces;
        }

        @GetMapping("/stream")
        public StreamingResponseBody stream(HttpServletResponse response) {
            return output -> {
                try {
                    for (String piece = pieces.next(); piece != null; piece = pieces.next()) {
                        output.write((piece + "\n").getBytes(StandardCharsets.UTF_8));
                        // Spring MVC does not pass on the flush of the stream.
                        response.flushBuffer();
                    }
                } catch (InterruptedException ex) {
                    throw new IOException(ex);
                }
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class ReactiveApplication {

        @Bean
        Pieces pieces() {
            return new Pieces();
        }

        @Bean
        ReactiveHandler handler(Pieces pieces) {
            return new ReactiveHandler(pieces);
        }
    }

    @RestController
    static class ReactiveHandler {

        private final Pieces pieces;

        ReactiveHandler(Pieces pieces) {
            this.pieces = pieces;
        }

        @GetMapping(path = "/stream", produces = MediaType.APPLICATION_NDJSON_VALUE)
        public Flux<String> stream() {
            return Flux.<String>generate(sink -> {
                        try {
                            String piece = pieces.next();
                            if (piece == null) {
                                sink.complete();
                            } else {
                                sink.next(piece + "\n");
                            }
                        } catch (IOException | InterruptedException ex) {
                            sink.error(ex);
                        }
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
    }
}
