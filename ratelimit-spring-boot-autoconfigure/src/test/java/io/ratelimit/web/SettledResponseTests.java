package io.ratelimit.web;

import static io.ratelimit.web.StreamedPieces.END;
import static io.ratelimit.web.StreamedPieces.FAILURE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.testing.LongRunning;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
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

/** Calls are settled when their response is complete, at what it has cost, from an estimate of 100. */
@LongRunning
@Timeout(180)
class SettledResponseTests {

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
            try (StreamedResponse stream = openUnused(path)) {
                stream.pass("first");
            }
            await().untilAsserted(() -> {
                pieces().write("unread");
                assertThat(used(path)).isBetween(1L, 99L);
            });
        }

        @ParameterizedTest
        @ValueSource(strings = {"body", "emitter"})
        void writerTellsWhatItHasUsedUntilItFails(String path) throws Exception {
            try (StreamedResponse stream = openUnused(path)) {
                stream.pass("first");
                assertThat(used(path)).isEqualTo(100);
                pieces().write(FAILURE);
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
            assertThat(get("never").status()).isEqualTo(503);
            awaitUsed("ended", 5);
            assertThat(used("never")).isEqualTo(100);
        }
    }

    @Nested
    class OnNetty extends Contract {

        OnNetty() {
            super(WebApplicationType.REACTIVE, ReactiveApplication.class);
        }

        /** The client has the body already. Of one that is not read, the cost is unknown. */
        @Test
        void bodyThatIsNotReadKeepsTheEstimate() {
            assertUsedByEach("GET", "1", 304, 100);
            assertUsedByEach("GET", "0", 200, 3);
        }

        @Test
        void eventsAreCollected() throws Exception {
            assertSettledAtTheEnd("events", 3);
        }
    }

    abstract static class Contract extends StreamingApplicationContract {

        Contract(WebApplicationType type, Class<?> application) {
            super(type, application, "ratelimit.defaults.algorithm=fixed-window", "ratelimit.defaults.rate=1000/d");
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-entity", "flux-in-mono"})
        void streamIsSettledByItsElements(String path) throws Exception {
            assertSettledAtTheEnd(path, 3);
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-mono"})
        void streamIsSettledByItsElementsUntilTheClientDisconnects(String path) throws Exception {
            try (StreamedResponse stream = openUnused(path)) {
                stream.pass("first");
            }
            await().untilAsserted(() -> {
                pieces().write("unread");
                assertThat(used(path)).isBetween(1L, 99L);
            });
        }

        @ParameterizedTest
        @ValueSource(strings = {"flux", "flux-in-mono"})
        void streamIsSettledByItsElementsUntilItFails(String path) throws Exception {
            try (StreamedResponse stream = openUnused(path)) {
                stream.pass("first");
                assertThat(used(path)).isEqualTo(100);
                pieces().write(FAILURE);
                awaitUsed(path, 1);
            }
        }

        @Test
        void lastElementIsTheResult() {
            get("last");
            awaitUsed("last", 6);
        }

        @Test
        void bodyThatIsNotSentIsSettledOnce() {
            assertUsedByEach("HEAD", "0", 200, 3);
        }

        void assertUsedByEach(String method, String tag, int status, long cost) {
            limiter("tagged").allCallers().reset();
            for (int call = 1; call < 3; call++) {
                assertThat(application
                                .http()
                                .send(method + " /tagged", "If-None-Match: \"" + tag + "\"")
                                .status())
                        .isEqualTo(status);
                awaitUsed("tagged", call * cost);
            }
        }

        /** Three pieces. Before the last one, the estimate is charged. */
        void assertSettledAtTheEnd(String path, long cost) throws Exception {
            try (StreamedResponse stream = openUnused(path)) {
                for (String piece : new String[] {"first", "second", "third"}) {
                    stream.pass(piece);
                    assertThat(used(path)).isEqualTo(100);
                }
                pieces().write(END);
                awaitUsed(path, cost);
            }
        }

        void awaitUsed(String limit, long cost) {
            await().untilAsserted(() -> assertThat(used(limit)).isEqualTo(cost));
        }

        long used(String limit) {
            return 1_000 - limiter(limit).allCallers().peek().remaining();
        }

        StreamedResponse openUnused(String path) throws IOException {
            limiter(path).allCallers().reset();
            return open(path);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class SharedConfiguration {

        @Bean
        StreamedPieces pieces() {
            return new StreamedPieces();
        }

        @Bean
        Collector<Object, ?, Integer> pieceCount() {
            return Collectors.summingInt(piece -> 1);
        }

        @Bean
        Streams streams(StreamedPieces pieces) {
            return new Streams(pieces);
        }
    }

    /** On both stacks. */
    @RestController
    static class Streams {

        private final StreamedPieces pieces;

        Streams(StreamedPieces pieces) {
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

        @RateLimited(name = "tagged", permits = "100", permitsAfter = "@pieceCount")
        @GetMapping("/tagged")
        public Mono<ResponseEntity<Flux<String>>> tagged() {
            return Mono.just(ResponseEntity.ok().eTag("1").body(Flux.just("one", "two", "three")));
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
        ServletHandler handler(StreamedPieces pieces) {
            return new ServletHandler(pieces);
        }
    }

    @RestController
    static class ServletHandler {

        private final StreamedPieces pieces;

        ServletHandler(StreamedPieces pieces) {
            this.pieces = pieces;
        }

        @RateLimited(name = "body", permits = "100", permitsAfter = "#result.written")
        @GetMapping("/body")
        public StreamedPieces.Body body(HttpServletResponse response) {
            return new StreamedPieces.Body(pieces, response);
        }

        @RateLimited(name = "body-in-entity", permits = "100", permitsAfter = "#result.body.written")
        @GetMapping("/body-in-entity")
        public ResponseEntity<StreamingResponseBody> bodyInEntity(HttpServletResponse response) {
            return ResponseEntity.ok(new StreamedPieces.Body(pieces, response));
        }

        @RateLimited(name = "body-in-future", permits = "100", permitsAfter = "#result.body.written")
        @GetMapping("/body-in-future")
        public CompletableFuture<ResponseEntity<StreamingResponseBody>> bodyInFuture(HttpServletResponse response) {
            return CompletableFuture.supplyAsync(() -> ResponseEntity.ok(new StreamedPieces.Body(pieces, response)));
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

    static final class CountingEmitter extends SseEmitter {

        private final StreamedPieces.Source pieces;

        private final AtomicInteger sent = new AtomicInteger();

        CountingEmitter(StreamedPieces pieces) {
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
        ReactiveHandler handler(StreamedPieces pieces) {
            return new ReactiveHandler(pieces);
        }
    }

    @RestController
    static class ReactiveHandler {

        private final StreamedPieces pieces;

        ReactiveHandler(StreamedPieces pieces) {
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
