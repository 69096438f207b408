package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import jakarta.servlet.http.HttpServletResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
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
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Calls are settled when their response is complete, at what it has cost, from an estimate of 100. */
@Timeout(60)
class SettledResponseTests {

    private static final String END = "end";

    private static final String FAILURE = "failure";

    @Nested
    class OnTomcat extends Contract {

        OnTomcat() {
            super(WebApplicationType.SERVLET, ServletApplication.class);
        }

        @ParameterizedTest
        @ValueSource(
                strings = {
                    "body",
                    "body-in-entity",
                    "body-in-future",
                    "body-in-completed-future",
                    "emitter",
                    "emitter-in-entity"
                })
        void writerTellsWhatItHasUsed(String path) throws Exception {
            assertSettledAtTheEnd(path, 3);
        }

        @ParameterizedTest
        @ValueSource(strings = {"body", "emitter"})
        void writerTellsWhatItHasUsedUntilTheClientDisconnects(String path) throws Exception {
            try (Stream stream = new Stream(path)) {
                stream.write("first");
                stream.readUntil("first");
            }
            await().untilAsserted(() -> {
                pieces().add("unread");
                assertThat(used(path)).isBetween(1L, 99L);
            });
        }

        @ParameterizedTest
        @ValueSource(strings = {"body", "emitter"})
        void writerTellsWhatItHasUsedUntilItFails(String path) throws Exception {
            try (Stream stream = new Stream(path)) {
                stream.write("first");
                stream.readUntil("first");
                assertThat(used(path)).isEqualTo(100);
                stream.write(FAILURE);
                awaitUsed(path, 1);
            }
        }

        @ParameterizedTest
        @CsvSource({"callable, 7", "task, 7", "deferred, 7", "failing-callable, 100", "refunded-callable, 0"})
        void valueOfAnotherThreadIsTheResult(String path, long cost) {
            get(path);
            awaitUsed(path, cost);
        }

        @Test
        void resultThatIsNeverComputedKeepsTheEstimate() {
            assertThat(new RawHttp(port()).send("GET /never").status()).isEqualTo(503);
            awaitUsed("ended", 5);
            assertThat(used("never")).isEqualTo(100);
        }
    }

    @Nested
    class OnNetty extends Contract {

        OnNetty() {
            super(WebApplicationType.REACTIVE, ReactiveApplication.class);
        }

        @Test
        void eventsAreCollected() throws Exception {
            assertSettledAtTheEnd("events", 3);
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
                            "--ratelimit.defaults.algorithm=fixed-window",
                            "--ratelimit.defaults.rate=1000/d");
        }

        @AfterAll
        void stop() {
            context.close();
        }

        @BeforeEach
        void reset() {
            context.getBean(Pieces.class).clear();
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-entity", "flux-in-mono"})
        void streamIsSettledByItsElements(String path) throws Exception {
            assertSettledAtTheEnd(path, 3);
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-mono"})
        void streamIsSettledByItsElementsUntilTheClientDisconnects(String path) throws Exception {
            try (Stream stream = new Stream(path)) {
                stream.write("first");
                stream.readUntil("first");
            }
            await().untilAsserted(() -> {
                pieces().add("unread");
                assertThat(used(path)).isBetween(1L, 99L);
            });
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-mono"})
        void streamIsSettledByItsElementsUntilItFails(String path) throws Exception {
            try (Stream stream = new Stream(path)) {
                stream.write("first");
                stream.readUntil("first");
                assertThat(used(path)).isEqualTo(100);
                stream.write(FAILURE);
                awaitUsed(path, 1);
            }
        }

        @Test
        void lastElementIsTheResult() {
            get("last");
            awaitUsed("last", 6);
        }

        /** Three pieces. Before the last one, the estimate is charged. */
        void assertSettledAtTheEnd(String path, long cost) throws Exception {
            try (Stream stream = new Stream(path)) {
                for (String piece : new String[] {"first", "second", "third"}) {
                    stream.write(piece);
                    stream.readUntil(piece);
                    assertThat(used(path)).isEqualTo(100);
                }
                stream.write(END);
                awaitUsed(path, cost);
            }
        }

        void awaitUsed(String limit, long cost) {
            await().untilAsserted(() -> assertThat(used(limit)).isEqualTo(cost));
        }

        long used(String limit) {
            return 1_000
                    - context.getBean(RateLimiterRegistry.class)
                            .get(limit)
                            .peek()
                            .remaining();
        }

        void get(String path) {
            new RawHttp(port()).send("GET /" + path);
        }

        BlockingQueue<String> pieces() {
            return context.getBean(Pieces.class).queue;
        }

        int port() {
            return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
        }

        /** A request whose response is read piece by piece. The bucket was never used. */
        final class Stream implements AutoCloseable {

            private final Socket socket;

            private final BufferedReader response;

            Stream(String path) throws IOException {
                context.getBean(RateLimiterRegistry.class).get(path).reset();
                socket = new Socket(InetAddress.getLoopbackAddress(), port());
                socket.setSoTimeout(10_000);
                socket.getOutputStream()
                        .write(("GET /" + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                .getBytes(StandardCharsets.ISO_8859_1));
                response = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            }

            void write(String piece) {
                pieces().add(piece);
            }

            void readUntil(String expected) throws IOException {
                String line = response.readLine();
                while (line == null || !line.contains(expected)) {
                    assertThat(line).as("before " + expected).isNotNull();
                    line = response.readLine();
                }
            }

            @Override
            public void close() throws IOException {
                socket.close();
            }
        }
    }

    /** What the handlers write, in each test for itself. */
    static final class Pieces {

        private volatile BlockingQueue<String> queue = new LinkedBlockingQueue<>();

        void clear() {
            queue = new LinkedBlockingQueue<>();
        }

        Source source() {
            return new Source(queue);
        }
    }

    /** What one handler writes. */
    record Source(BlockingQueue<String> queue) {

        /** Returns the next piece, or {@code null} at the end. */
        String next() throws IOException {
            try {
                String piece = queue.poll(20, TimeUnit.SECONDS);
                if (FAILURE.equals(piece)) {
                    throw new IOException("expected by the test");
                }
                return END.equals(piece) ? null : piece;
            } catch (InterruptedException ex) {
                throw new IOException(ex);
            }
        }

        Flux<String> all() {
            return Flux.<String>generate(sink -> {
                        try {
                            String piece = next();
                            if (piece == null) {
                                sink.complete();
                            } else {
                                sink.next(piece + "\n");
                            }
                        } catch (IOException ex) {
                            sink.error(ex);
                        }
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SharedConfiguration {

        @Bean
        Pieces pieces() {
            return new Pieces();
        }

        @Bean
        Collector<Object, ?, Integer> pieceCount() {
            return Collectors.summingInt(piece -> 1);
        }

        @Bean
        Streams streams(Pieces pieces) {
            return new Streams(pieces);
        }
    }

    /** On both stacks. */
    @RestController
    static class Streams {

        private final Pieces pieces;

        Streams(Pieces pieces) {
            this.pieces = pieces;
        }

        @RateLimited(name = "flux", permits = "100", permitsAfter = "@pieceCount")
        @GetMapping(path = "/flux", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Flux<String> flux() {
            return pieces.source().all();
        }

        @RateLimited(name = "flux-in-entity", permits = "100", permitsAfter = "@pieceCount")
        @GetMapping(path = "/flux-in-entity", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public ResponseEntity<Flux<String>> fluxInEntity() {
            return ResponseEntity.ok()
                    .header("X-Kept", "yes")
                    .body(pieces.source().all());
        }

        @RateLimited(name = "flux-in-mono", permits = "100", permitsAfter = "@pieceCount")
        @GetMapping(path = "/flux-in-mono", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Mono<ResponseEntity<Flux<String>>> fluxInMono() {
            return Mono.just(ResponseEntity.ok(pieces.source().all()));
        }

        @RateLimited(name = "last", permits = "100", permitsAfter = "#result.data().length()")
        @GetMapping(path = "/last", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        public Flux<ServerSentEvent<String>> last() {
            return Flux.just("one", "two", "eleven")
                    .map(data -> ServerSentEvent.builder(data).build());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ServletApplication extends SharedConfiguration {

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

        @RateLimited(name = "body", permits = "100", permitsAfter = "#result.written")
        @GetMapping("/body")
        public CountedBody body(HttpServletResponse response) {
            return new CountedBody(pieces, response);
        }

        @RateLimited(name = "body-in-entity", permits = "100", permitsAfter = "#result.body.written")
        @GetMapping("/body-in-entity")
        public ResponseEntity<StreamingResponseBody> bodyInEntity(HttpServletResponse response) {
            return ResponseEntity.ok(new CountedBody(pieces, response));
        }

        @RateLimited(name = "body-in-future", permits = "100", permitsAfter = "#result.body.written")
        @GetMapping("/body-in-future")
        public CompletableFuture<ResponseEntity<StreamingResponseBody>> bodyInFuture(HttpServletResponse response) {
            return CompletableFuture.supplyAsync(() -> ResponseEntity.ok(new CountedBody(pieces, response)));
        }

        @RateLimited(name = "body-in-completed-future", permits = "100", permitsAfter = "#result.body.written")
        @GetMapping("/body-in-completed-future")
        public CompletableFuture<ResponseEntity<StreamingResponseBody>> bodyInCompletedFuture(
                HttpServletResponse response) {
            return CompletableFuture.completedFuture(bodyInEntity(response));
        }

        @RateLimited(name = "emitter", permits = "100", permitsAfter = "#result.sent")
        @GetMapping("/emitter")
        public SseEmitter emitter() {
            return new CountingEmitter(pieces).started();
        }

        @RateLimited(name = "emitter-in-entity", permits = "100", permitsAfter = "#result.body.sent")
        @GetMapping("/emitter-in-entity")
        public ResponseEntity<SseEmitter> emitterInEntity() {
            return ResponseEntity.ok(new CountingEmitter(pieces).started());
        }

        @RateLimited(name = "callable", permits = "100", permitsAfter = "#result.length()")
        @GetMapping("/callable")
        public Callable<String> callable() {
            return () -> "seven!!";
        }

        @RateLimited(name = "failing-callable", permits = "100", permitsAfter = "#result.length()")
        @GetMapping("/failing-callable")
        public Callable<String> failingCallable() {
            return () -> {
                throw new IOException("expected by the test");
            };
        }

        @RateLimited(
                name = "refunded-callable",
                permits = "100",
                permitsAfter = "#result.length()",
                refundOn = IOException.class)
        @GetMapping("/refunded-callable")
        public Callable<String> refundedCallable() {
            return failingCallable();
        }

        @RateLimited(name = "task", permits = "100", permitsAfter = "#result.length()")
        @GetMapping("/task")
        public WebAsyncTask<String> task() {
            return new WebAsyncTask<>(() -> "seven!!");
        }

        @RateLimited(name = "deferred", permits = "100", permitsAfter = "#result.length()")
        @GetMapping("/deferred")
        public DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>();
            var unused = CompletableFuture.runAsync(() -> result.setResult("seven!!"));
            return result;
        }

        @RateLimited(name = "never", permits = "100", permitsAfter = "#result.length()")
        @RateLimited(
                name = "ended",
                permits = "100",
                permitsAfter = "#exception.class.simpleName == 'AsyncRequestTimeoutException' ? 5 : 6")
        @GetMapping("/never")
        public DeferredResult<String> never() {
            return new DeferredResult<>(1L);
        }
    }

    /** Knows how much it has written, as a body of the application does. */
    static final class CountedBody implements StreamingResponseBody {

        private final Source pieces;

        private final HttpServletResponse response;

        private final AtomicInteger written = new AtomicInteger();

        CountedBody(Pieces pieces, HttpServletResponse response) {
            this.pieces = pieces.source();
            this.response = response;
        }

        public int getWritten() {
            return written.get();
        }

        @Override
        public void writeTo(OutputStream output) throws IOException {
            for (String piece = pieces.next(); piece != null; piece = pieces.next()) {
                written.incrementAndGet();
                output.write((piece + "\n").getBytes(StandardCharsets.UTF_8));
                // Spring MVC does not pass on the flush of the stream.
                response.flushBuffer();
            }
        }
    }

    static final class CountingEmitter extends SseEmitter {

        private final Source pieces;

        private final AtomicInteger sent = new AtomicInteger();

        CountingEmitter(Pieces pieces) {
            this.pieces = pieces.source();
        }

        public int getSent() {
            return sent.get();
        }

        CountingEmitter started() {
            var unused = CompletableFuture.runAsync(this::sendAll);
            return this;
        }

        private void sendAll() {
            try {
                for (String piece = pieces.next(); piece != null; piece = pieces.next()) {
                    sent.incrementAndGet();
                    send(piece);
                }
                complete();
            } catch (IOException ex) {
                completeWithError(ex);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReactiveApplication extends SharedConfiguration {

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

        @RateLimited(name = "events", permits = "100", permitsAfter = "@pieceCount")
        @GetMapping(path = "/events")
        public Mono<ResponseEntity<Flux<ServerSentEvent<String>>>> events() {
            return Mono.just(ResponseEntity.ok()
                    .contentType(MediaType.TEXT_EVENT_STREAM)
                    .body(pieces.source()
                            .all()
                            .map(piece -> ServerSentEvent.builder(piece).build())));
        }
    }
}
