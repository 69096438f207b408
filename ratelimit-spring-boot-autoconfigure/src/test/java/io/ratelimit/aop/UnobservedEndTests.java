package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.stub.StreamObserver;
import io.ratelimit.Algorithm;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.sse.SseEventSink;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import kotlin.sequences.Sequence;
import kotlinx.coroutines.Deferred;
import kotlinx.coroutines.Job;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Types that do not tell the end of a call stop the start-up, if the limit holds permits. */
class UnobservedEndTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void typesWhoseEndCannotBeObservedStopTheStartUp() {
        runner.withBean(PlainFuture.class)
                .run(failsWith("the end of a call that returns java.util.concurrent.Future cannot be observed"));
        runner.withUserConfiguration(ConcurrencyTests.AsyncConfig.class)
                .withBean(Forgotten.class)
                .run(failsWith("the end of a call that returns void cannot be observed"));
    }

    @Test
    void inheritedMethodOfAnAsynchronousClassStopsTheStartUp() {
        runner.withUserConfiguration(ConcurrencyTests.AsyncConfig.class)
                .withBean(AsyncSubclass.class)
                .run(failsWith("the end of a call that returns void cannot be observed"));
    }

    /** Its elements are computed when the caller reads them, or it goes on when the caller has cancelled its wait. */
    @Test
    void valueThatIsReadLaterStopsTheStartUp() {
        for (Method method : LazyValues.class.getDeclaredMethods()) {
            assertThat(LateResults.unobserved(method, method.getDeclaringClass()))
                    .as(method.getName())
                    .isNotNull();
        }
        runner.withBean(Rows.class)
                .run(failsWith("the end of a call that returns java.util.stream.Stream cannot be observed"));
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                StreamingResponseBody.class,
                SseEmitter.class,
                Callable.class,
                DeferredResult.class,
                WebAsyncTask.class
            })
    void responseThatIsCompletedLaterStopsTheStartUp(Class<?> type) throws Exception {
        String name = type.getSimpleName();
        for (String method : List.of("plain" + name, "entity" + name)) {
            assertThat(LateResults.unobserved(HandlerTypes.class.getDeclaredMethod(method), HandlerTypes.class))
                    .as(method)
                    .isEqualTo(type);
        }
    }

    /** By a resource of JAX-RS, or a service of gRPC whose client streams. */
    @Test
    void answerThatIsGivenAfterTheMethodHasReturnedStopsTheStartUp() {
        Map.of(
                        StreamedOutput.class, "returns jakarta.ws.rs.core.StreamingOutput",
                        Requests.class, "returns io.grpc.stub.StreamObserver",
                        Suspended.class, "takes jakarta.ws.rs.container.AsyncResponse",
                        Events.class, "takes jakarta.ws.rs.sse.SseEventSink")
                .forEach((bean, call) ->
                        runner.withBean(bean).run(failsWith("the end of a call that " + call + " cannot be observed")));
    }

    @Test
    void bodyThatIsWrittenAfterTheValueStopsTheStartUp() {
        runner.withBean(StreamedEntity.class)
                .run(failsWith("the end of a call that returns reactor.core.publisher.Flux cannot be observed"));
    }

    @Test
    void endsOfOtherTypesAreObserved() {
        for (Method method : ObservedHandlers.class.getDeclaredMethods()) {
            assertThat(LateResults.unobserved(method, method.getDeclaringClass()))
                    .as(method.getName())
                    .isNull();
        }
    }

    private static ContextConsumer<AssertableApplicationContext> failsWith(String problem) {
        return context -> assertThat(context).getFailure().rootCause().hasMessageContaining(problem);
    }

    static class PlainFuture {

        @RateLimited(name = "plain", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Future<String> export() {
            return new CompletableFuture<>();
        }
    }

    static class Rows {

        @RateLimited(name = "rows", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Stream<String> rows() {
            return Stream.of("row");
        }
    }

    static class StreamedOutput {

        @RateLimited(name = "output", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public StreamingOutput export() {
            return output -> {};
        }
    }

    static class Requests {

        @RateLimited(name = "requests", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public StreamObserver<String> upload(StreamObserver<String> answers) {
            return answers;
        }
    }

    static class Suspended {

        @RateLimited(name = "suspended", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public void export(AsyncResponse answer) {}
    }

    static class Events {

        @RateLimited(name = "events", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public void stream(SseEventSink events) {}
    }

    interface LazyValues {

        Stream<String> stream();

        IntStream numbers();

        CompletableFuture<Stream<String>> futureOfAStream();

        Sequence<String> sequence();

        Deferred<String> deferred();

        Job job();

        Task task();

        List<CompletableFuture<String>> futures();

        Map<String, Future<String>> plainFutures();

        Optional<Flux<String>> optional();

        Mono<List<Flux<String>>> monoOfFluxes();

        Flux<Flux<String>> windows();
    }

    interface Task extends Callable<String> {}

    static class Forgotten {

        @Async
        @RateLimited(name = "forgotten", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public void export() {}
    }

    static class Exports {

        @RateLimited(name = "inherited", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public void export() {}
    }

    @Async
    static class AsyncSubclass extends Exports {}

    interface HandlerTypes {
        StreamingResponseBody plainStreamingResponseBody();

        ResponseEntity<StreamingResponseBody> entityStreamingResponseBody();

        SseEmitter plainSseEmitter();

        ResponseEntity<SseEmitter> entitySseEmitter();

        Callable<String> plainCallable();

        ResponseEntity<Callable<String>> entityCallable();

        DeferredResult<String> plainDeferredResult();

        ResponseEntity<DeferredResult<String>> entityDeferredResult();

        WebAsyncTask<String> plainWebAsyncTask();

        ResponseEntity<WebAsyncTask<String>> entityWebAsyncTask();
    }

    interface ObservedHandlers {

        ResponseEntity<String> entity();

        Mono<ResponseEntity<List<String>>> monoOfAnEntity();

        CompletableFuture<ResponseEntity<String>> futureOfAnEntity();

        Flux<String> flux();

        <T extends Comparable<T>> List<T> sorted();

        Map<String, ? extends List<? super String>> map();

        @SuppressWarnings("rawtypes")
        List raw();

        Object anything();

        void nothing();
    }

    static class StreamedEntity {

        @RateLimited(name = "streamed", algorithm = Algorithm.CONCURRENCY, capacity = 1)
        public Mono<ResponseEntity<Flux<String>>> stream() {
            return Mono.empty();
        }
    }
}
