package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LongRunning;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * One connection, on which a call decided on another thread is followed by one that is answered at once. If the first response
 * comes from another thread than the event loop, Reactor Netty 1.3.7 can stop reading after the second (reactor-netty#4361).
 */
@LongRunning
class KeptConnectionTests {

    /** Within less than half of them, a response from another thread stops the connection. */
    private static final int ROUNDS = 1000;

    /** Ends with the text of the handler, or with the last chunk. */
    private static final Pattern COMPLETE = Pattern.compile("(done|\r\n0\r\n\r\n)\\z");

    private static final int SILENCE_MILLIS = 30_000;

    private static ConfigurableApplicationContext application;

    @BeforeAll
    static void start() {
        application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.REACTIVE)
                .run(
                        "--server.port=0",
                        "--server.address=127.0.0.1",
                        "--spring.main.banner-mode=off",
                        "--ratelimit.limits.url.rate=1/s",
                        "--ratelimit.http[0].path=/url",
                        "--ratelimit.http[0].limit=url");
    }

    @AfterAll
    static void close() {
        application.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/mono", "/flux", "/url"})
    void connectionIsReadOn(String path) throws IOException {
        try (Socket socket = connect()) {
            for (int i = 0; i < ROUNDS; i++) {
                assertThat(exchange(socket, path)).contains("reactor-http-");
                assertThat(exchange(socket, "/at-once")).contains("reactor-http-");
            }
        }
    }

    private static Socket connect() throws IOException {
        int port = Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port"));
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(SILENCE_MILLIS);
        return socket;
    }

    private static String exchange(Socket socket, String path) throws IOException {
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        StringBuilder response = new StringBuilder();
        InputStream in = socket.getInputStream();
        byte[] bytes = new byte[4096];
        do {
            int read = in.read(bytes);
            assertThat(read).as("closed").isPositive();
            response.append(new String(bytes, 0, read, StandardCharsets.US_ASCII));
        } while (!isComplete(response));
        return response.toString();
    }

    private static boolean isComplete(CharSequence response) {
        return COMPLETE.matcher(response).find();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        RateLimitStore store() {
            return new OtherThreadStore();
        }

        @Bean
        Endpoints endpoints() {
            return new Endpoints();
        }
    }

    @RestController
    static class Endpoints {

        @GetMapping("/mono")
        @RateLimited(name = "mono", rate = "1/s")
        public Mono<String> mono() {
            return Mono.just(thread() + " done");
        }

        @GetMapping("/flux")
        @RateLimited(name = "flux", rate = "1/s")
        public Flux<String> flux() {
            return Flux.just(thread(), " done");
        }

        @GetMapping("/url")
        public Mono<String> url() {
            return Mono.just(thread() + " done");
        }

        @GetMapping("/at-once")
        public Mono<String> atOnce() {
            return Mono.just(thread() + " done");
        }

        private static String thread() {
            return Thread.currentThread().getName();
        }
    }

    /** Allows every call, and decides without blocking on a thread of its own, as with Redis. */
    private static final class OtherThreadStore implements RateLimitStore {

        @Override
        public StoreAnswer decide(StoreRequest request) {
            StoreOutcome outcome = StoreOutcome.of(request, List.of(RateLimitDecision.unlimited(9)));
            return StoreAnswer.of(
                    () -> outcome, () -> CompletableFuture.supplyAsync(() -> outcome, Schedulers.single()::schedule));
        }
    }
}
