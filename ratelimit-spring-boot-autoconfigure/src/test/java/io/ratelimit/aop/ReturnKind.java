package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a limited method can return. */
@SuppressWarnings({
    "FutureReturnValueIgnored", // It is the method's result, and looked at.
    "ImmutableEnumChecker", // References to methods.
    "UnusedMethod" // Fallback methods, called by name.
})
enum ReturnKind {
    PLAIN(true, Quotes::plain),
    VOID(true, quotes -> {
        quotes.nothing();
        return null;
    }),
    OPTIONAL(true, Quotes::optional),
    STAGE(false, Quotes::stage),
    COMPLETABLE_FUTURE(false, Quotes::completableFuture),
    FUTURE(false, Quotes::future),
    MONO(false, Quotes::mono),
    FLUX(false, Quotes::flux),
    PUBLISHER(false, Quotes::publisher),
    FLOW_PUBLISHER(false, Quotes::flowPublisher);

    private final boolean throwing;

    private final Function<Quotes, Object> method;

    ReturnKind(boolean throwing, Function<Quotes, Object> method) {
        this.throwing = throwing;
        this.method = method;
    }

    /** What a caller sees of a call: values, or how it failed, in the type's own way. */
    Object outcome(Quotes quotes) {
        Object returned;
        try {
            returned = method.apply(quotes);
        } catch (RuntimeException ex) {
            if (throwing) {
                return ex;
            }
            throw new AssertionError("thrown, and not put into what is returned", ex);
        }
        return throwing ? values(returned) : awaited(() -> await(returned));
    }

    private static Object values(Object returned) {
        return returned instanceof Optional<?> optional ? optional.orElse(null) : returned;
    }

    private static Object await(Object returned) throws Exception {
        if (returned instanceof CompletionStage<?> stage) {
            return stage.toCompletableFuture().get();
        }
        if (returned instanceof Future<?> future) {
            return future.get();
        }
        Publisher<?> publisher = returned instanceof Flow.Publisher<?> flow
                ? JdkFlowAdapter.flowPublisherToFlux(flow)
                : (Publisher<?>) returned;
        List<?> values = Flux.from(publisher).collectList().toFuture().get();
        return values.size() == 1 ? values.get(0) : values;
    }

    private static Object awaited(Callable<Object> outcome) {
        try {
            return outcome.call();
        } catch (ExecutionException | CompletionException ex) {
            return ex.getCause();
        } catch (Exception ex) {
            return ex;
        }
    }

    /** The same method, in every kind. */
    static class Quotes {

        private final List<String> ran = new CopyOnWriteArrayList<>();

        List<String> ran() {
            return ran;
        }

        String run() {
            ran.add("ran");
            return "quote";
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public String plain() {
            return run();
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public void nothing() {
            run();
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Optional<String> optional() {
            return Optional.of(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedStage(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public CompletableFuture<String> completableFuture() {
            return CompletableFuture.completedFuture(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Future<String> future() {
            return CompletableFuture.completedFuture(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Mono<String> mono() {
            return Mono.just(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Flux<String> flux() {
            return Flux.just(run(), "another");
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Publisher<String> publisher() {
            return Mono.just(run());
        }

        @RateLimited(name = "quotes", rate = "1/s")
        public Flow.Publisher<String> flowPublisher() {
            return JdkFlowAdapter.publisherToFlowPublisher(Mono.just(run()));
        }
    }

    /** With something to return instead. */
    static class StaleQuotes extends Quotes {

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "stale")
        public String plain() {
            return run();
        }

        String stale() {
            return "stale";
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleNothing")
        public void nothing() {
            run();
        }

        void staleNothing() {}

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleOptional")
        public Optional<String> optional() {
            return Optional.of(run());
        }

        Optional<String> staleOptional() {
            return Optional.of(stale());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleFuture")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedStage(run());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleFuture")
        public CompletableFuture<String> completableFuture() {
            return CompletableFuture.completedFuture(run());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleFuture")
        public Future<String> future() {
            return CompletableFuture.completedFuture(run());
        }

        CompletableFuture<String> staleFuture() {
            return CompletableFuture.completedFuture(stale());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleMono")
        public Mono<String> mono() {
            return Mono.just(run());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleFlux")
        public Flux<String> flux() {
            return Flux.just(run());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleMono")
        public Publisher<String> publisher() {
            return Mono.just(run());
        }

        Mono<String> staleMono() {
            return Mono.just(stale());
        }

        Flux<String> staleFlux() {
            return Flux.just(stale());
        }

        @Override
        @RateLimited(name = "quotes", rate = "1/s", fallbackMethod = "staleFlowPublisher")
        public Flow.Publisher<String> flowPublisher() {
            return JdkFlowAdapter.publisherToFlowPublisher(Mono.just(run()));
        }

        Flow.Publisher<String> staleFlowPublisher() {
            return JdkFlowAdapter.publisherToFlowPublisher(staleMono());
        }
    }
}
