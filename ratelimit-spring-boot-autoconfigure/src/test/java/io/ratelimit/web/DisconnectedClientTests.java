package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Clients of a server on Netty that disconnect before anything of the response has been written, or while it is. */
@LongRunning
@Timeout(180)
class DisconnectedClientTests {

    private static final int STREAMS = 300;

    @Nested
    class InMemory extends Contract {

        InMemory() {
            super("--ratelimit.store=in-memory");
        }
    }

    /** Redis decides on another thread than the event loop. */
    @Nested
    class InRedis extends Contract {

        InRedis() {
            super(
                    "--spring.data.redis.host=" + SharedRedis.get().host(),
                    "--spring.data.redis.port=" + SharedRedis.get().port(),
                    "--ratelimit.redis.timeout=20s",
                    "--ratelimit.on-store-failure=throw",
                    "--ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix());
        }
    }

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {

        private final String[] store;

        private ConfigurableApplicationContext context;

        Contract(String... store) {
            this.store = store;
        }

        @BeforeAll
        void start() {
            context = new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.REACTIVE)
                    .properties(
                            "server.port=0",
                            "server.address=127.0.0.1",
                            "spring.main.banner-mode=off",
                            "ratelimit.limits.url.algorithm=concurrency",
                            "ratelimit.limits.url.capacity=1",
                            "ratelimit.limits.waiting.algorithm=concurrency",
                            "ratelimit.limits.waiting.capacity=1",
                            "ratelimit.limits.waiting.max-wait=1h",
                            "ratelimit.http[0].path=/url",
                            "ratelimit.http[0].limit=url",
                            "ratelimit.http[1].path=/waiting",
                            "ratelimit.http[1].limit=waiting")
                    .run(store);
        }

        @AfterAll
        void stop() {
            context.close();
        }

        /** The connection ends in order, or by a reset, as that of a client that has died with data unread. */
        @ParameterizedTest
        @CsvSource({
            "mono,false",
            "mono,true",
            "flux,false",
            "flux,true",
            "body,false",
            "body,true",
            "url,false",
            "url,true"
        })
        void releases(String path, boolean reset) throws Exception {
            try (Socket socket = connect(reset)) {
                send(socket, path);
                assertThat(nextSignal()).isEqualTo("subscribed " + path);
                assertThat(isFree(path)).isFalse();
            }
            assertThat(nextSignal()).isEqualTo("cancelled " + path);
            await().untilAsserted(() -> assertThat(isFree(path)).isTrue());
        }

        @ParameterizedTest
        @CsvSource({"mono,false", "mono,true", "url,false", "url,true"})
        void releasesOnAConnectionThatWasKept(String path, boolean reset) throws Exception {
            try (Socket socket = connect(reset)) {
                for (int i = 0; i < 20; i++) {
                    send(socket, "quick");
                    readResponse(socket);
                }
                send(socket, path);
                assertThat(nextSignal()).isEqualTo("subscribed " + path);
            }
            assertThat(nextSignal()).isEqualTo("cancelled " + path);
            await().untilAsserted(() -> assertThat(isFree(path)).isTrue());
        }

        /** Netty reads no further ahead than the handler, and so does not see that the connection has ended. */
        @ParameterizedTest
        @ValueSource(strings = {"writing", "reading"})
        void releasesWhenAHandlerThatHasNotReadTheBodyWritesOrReads(String path) throws Exception {
            try (Socket socket = connect(false)) {
                send(socket, path);
                assertThat(nextSignal()).isEqualTo("subscribed " + path);
            }
            try (Socket other = connect(false)) {
                send(other, "quick");
                readResponse(other);
            }
            Signals signals = context.getBean(Signals.class);
            await().untilAsserted(() -> {
                signals.goOn.tryEmitNext("on");
                assertThat(isFree(path)).isTrue();
            });
        }

        @Test
        void waitsNoLonger() throws Exception {
            RateLimiter limiter = limiter("waiting");
            RateLimiter.Entry entry = limiter.allCallers().enter();
            Signals signals = context.getBean(Signals.class);
            try (Socket socket = connect(false)) {
                send(socket, "waiting");
                assertThat(nextSignal()).isEqualTo("waiting");
            }
            assertThat(nextSignal()).isEqualTo("no longer");
            entry.close();
            await().untilAsserted(() -> assertThat(isFree("waiting")).isTrue());
            assertThat(signals.queue).isEmpty();
        }

        /** If the first element cannot be written any more, the publisher is not cancelled. */
        @Test
        void streamsWhoseClientsLeaveHoldNothing() throws Exception {
            Random random = TestRandom.create(DisconnectedClientTests.class);
            ExecutorService clients = Executors.newFixedThreadPool(32);
            try {
                List<Future<?>> streams = new ArrayList<>();
                for (int i = 0; i < STREAMS; i++) {
                    long stay = random.nextLong(100_000_000);
                    streams.add(clients.submit(() -> {
                        try (Socket socket = connect(true)) {
                            send(socket, "stream");
                            LockSupport.parkNanos(stay);
                        }
                        return null;
                    }));
                }
                for (Future<?> stream : streams) {
                    stream.get();
                }
                await().untilAsserted(() -> assertThat(
                                limiter("stream").allCallers().peek().remaining())
                        .isEqualTo(STREAMS));
            } finally {
                clients.shutdownNow();
                context.getBean(Signals.class).end.tryEmitEmpty();
            }
        }

        private Socket connect(boolean reset) throws IOException {
            int port = Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setSoTimeout(60_000);
            if (reset) {
                socket.setSoLinger(true, 0);
            }
            return socket;
        }

        private String nextSignal() throws InterruptedException {
            return context.getBean(Signals.class).queue.poll(60, TimeUnit.SECONDS);
        }

        private RateLimiter limiter(String limit) {
            return context.getBean(RateLimiterRegistry.class).get(limit);
        }

        private boolean isFree(String limit) {
            return limiter(limit).allCallers().peek().allowed();
        }
    }

    private static void send(Socket socket, String path) throws IOException {
        boolean unread = "writing".equals(path) || "reading".equals(path);
        String request = "body".equals(path) || unread
                ? "POST /" + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: "
                        + (unread ? 1_000_000 : 4) + "\r\n\r\ntext"
                : "GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    }

    private static void readResponse(Socket socket) throws IOException {
        StringBuilder response = new StringBuilder();
        while (response.indexOf("\r\n\r\nquick") < 0) {
            int next = socket.getInputStream().read();
            assertThat(next).as("after %s", response).isNotNegative();
            response.append((char) next);
        }
    }

    static final class Signals {

        private final BlockingQueue<String> queue = new LinkedBlockingQueue<>();

        private final Sinks.Many<String> goOn = Sinks.many().multicast().directBestEffort();

        private final Sinks.Empty<Void> end = Sinks.empty();

        private Flux<String> silence(String path) {
            return Flux.<String>never()
                    .doOnSubscribe(unused -> queue.add("subscribed " + path))
                    .doOnCancel(() -> queue.add("cancelled " + path));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Signals signals() {
            return new Signals();
        }

        @Bean
        Endpoints endpoints(Signals signals) {
            return new Endpoints(signals);
        }

        /** Around the filter that limits. */
        @Bean
        @Order(Ordered.HIGHEST_PRECEDENCE)
        WebFilter around(Signals signals) {
            return (exchange, chain) -> {
                Mono<Void> rest = chain.filter(exchange);
                return exchange.getRequest().getPath().value().equals("/waiting")
                        ? rest.doOnSubscribe(unused -> signals.queue.add("waiting"))
                                .doOnCancel(() -> signals.queue.add("no longer"))
                        : rest;
            };
        }
    }

    @RestController
    static class Endpoints {

        private final Signals signals;

        Endpoints(Signals signals) {
            this.signals = signals;
        }

        @GetMapping("/mono")
        @RateLimited(name = "mono", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<String> mono() {
            return signals.silence("mono").next();
        }

        @GetMapping(path = "/flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @RateLimited(name = "flux", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Flux<String> flux() {
            return signals.silence("flux");
        }

        @PostMapping("/body")
        @RateLimited(name = "body", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<String> body(@RequestBody String body) {
            return signals.silence("body").next();
        }

        @PostMapping(path = "/writing", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @RateLimited(name = "writing", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Flux<String> writing() {
            return signals.goOn.asFlux().doOnSubscribe(unused -> signals.queue.add("subscribed writing"));
        }

        @PostMapping("/reading")
        @RateLimited(name = "reading", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<Long> reading(ServerWebExchange exchange) {
            return signals.goOn
                    .asFlux()
                    .doOnSubscribe(unused -> signals.queue.add("subscribed reading"))
                    .next()
                    .thenMany(exchange.getRequest().getBody())
                    .doOnNext(DataBufferUtils::release)
                    .count();
        }

        @GetMapping("/url")
        public Mono<String> url() {
            return signals.silence("url").next();
        }

        @GetMapping("/waiting")
        public Mono<String> waiting() {
            return signals.silence("waiting").next();
        }

        @GetMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        @RateLimited(name = "stream", algorithm = Algorithm.CONCURRENCY, capacity = STREAMS)
        public Flux<String> stream() {
            String text = "x".repeat(20_000);
            return Flux.interval(Duration.ofMillis(1))
                    .onBackpressureDrop()
                    .map(i -> text)
                    .takeUntilOther(signals.end.asMono());
        }

        @GetMapping("/quick")
        @RateLimited(name = "quick", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<String> quick() {
            return Mono.just("quick");
        }
    }
}
