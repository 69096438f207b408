package io.ratelimit.aop;

import io.ratelimit.Entry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.Refund;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Every subscription is a call: it is charged, and the method runs for it. Nobody waits for the decision, and the rejection
 * is an error signal.
 */
final class ReactiveStyle implements CallStyle {

    private final @Nullable ReactiveAdapter adapter;

    private final boolean several;

    private final CallerRequest.Source ofThread;

    private final ReactiveCallerRequests ofContext;

    /**
     * @param adapter from and to the method's own type; {@code null}: the proxy wants a publisher
     * @param several whether the method gives more than one value
     */
    ReactiveStyle(
            @Nullable ReactiveAdapter adapter,
            boolean several,
            CallerRequest.Source ofThread,
            ReactiveCallerRequests ofContext) {
        this.adapter = adapter;
        this.several = several;
        this.ofThread = ofThread;
        this.ofContext = ofContext;
    }

    @Override
    public Object call(LimitedCall call) {
        CallerRequest caller = ofThread.current();
        Mono<Publisher<?>> admitted = ofContext
                .current(call.limited().asksForPrincipal())
                .map(Optional::of)
                .defaultIfEmpty(Optional.ofNullable(caller))
                .flatMap(request -> enter(call, request.orElse(null)));
        Publisher<?> result = several ? admitted.flatMapMany(next -> next) : admitted.flatMap(Mono::fromDirect);
        return adapter == null ? result : adapter.fromPublisher(result);
    }

    /** What the subscriber gets: the method's result, or its fallback's. */
    private Mono<Publisher<?>> enter(LimitedCall call, @Nullable CallerRequest request) {
        Entry entry = call.entry(request);
        if (entry.charges().isEmpty()) {
            return Mono.fromCallable(() -> publisher(proceed(call)));
        }
        CompletableFuture<Refund> entered = call.gate().enterAsync(entry).toCompletableFuture();
        Mono<Refund> decided = Mono.fromFuture(entered);
        // The store's thread must not run the method, which may block it or ask the store itself.
        return (entered.isDone() ? decided : decided.publishOn(Schedulers.parallel()))
                .<Publisher<?>>map(refund -> admitted(call, entry, refund))
                .onErrorResume(
                        RateLimitExceededException.class,
                        rejection -> Mono.fromCallable(() -> publisher(instead(call, rejection))));
    }

    private Publisher<?> admitted(LimitedCall call, Entry entry, Refund refund) {
        Flux<?> values = Flux.defer(() -> publisher(proceed(call)));
        return entry.refundable()
                ? values.onErrorResume(failure -> Mono.fromCompletionStage(() -> call.giveBack(entry, refund, failure))
                        .then(Mono.error(failure)))
                : values;
    }

    private Publisher<?> publisher(@Nullable Object result) {
        if (result == null) {
            return Mono.empty();
        }
        return adapter == null || result instanceof Publisher ? (Publisher<?>) result : adapter.toPublisher(result);
    }

    private static @Nullable Object proceed(LimitedCall call) {
        try {
            return call.proceedAnew();
        } catch (Throwable failure) {
            return Mono.error(failure);
        }
    }

    private static @Nullable Object instead(LimitedCall call, RateLimitExceededException rejection) {
        try {
            return call.instead(rejection);
        } catch (Throwable failure) {
            return Mono.error(failure);
        }
    }
}
