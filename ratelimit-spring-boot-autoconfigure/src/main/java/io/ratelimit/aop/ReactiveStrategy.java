package io.ratelimit.aop;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.store.Refund;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Every subscription is a call: it is charged, and the method runs for it. Nobody waits for the decision, and the rejection
 * is an error signal.
 */
final class ReactiveStrategy implements ReturnTypeStrategy {

    private final @Nullable ReactiveAdapter adapter;

    private final boolean several;

    private final CallerRequest.Source ofThread;

    private final ReactiveCallerRequests ofContext;

    private final CallThreads threads;

    /**
     * @param adapter from and to the method's own type; {@code null}: the proxy wants a publisher
     * @param several whether the method gives more than one value
     */
    ReactiveStrategy(
            @Nullable ReactiveAdapter adapter,
            boolean several,
            CallerRequest.Source ofThread,
            ReactiveCallerRequests ofContext,
            CallThreads threads) {
        this.adapter = adapter;
        this.several = several;
        this.ofThread = ofThread;
        this.ofContext = ofContext;
        this.threads = threads;
    }

    @Override
    public Object call(LimitedCall call) {
        CallerRequest caller = ofThread.current();
        Flux<?> values = ofContext
                .current(call.limited().readsPrincipal())
                .map(Optional::of)
                .defaultIfEmpty(Optional.ofNullable(caller))
                .flatMapMany(request -> enter(call, request.orElse(null)));
        // Of one value directly: the method must see its own end, not that somebody cancels once the value is there.
        Publisher<?> result = several ? values : Mono.fromDirect(values);
        return adapter == null ? result : adapter.fromPublisher(result);
    }

    private Publisher<?> enter(LimitedCall call, @Nullable CallerRequest request) {
        AcquireRequest entry = call.entry(request);
        if (entry.charges().isEmpty()) {
            return body(call);
        }
        CompletableFuture<Refund> entered = call.gate().enterAsync(entry).toCompletableFuture();
        return signalled(entered.handle(Answer::new))
                // Finally: what it answers to that must find nobody.
                .doFinally(end -> {
                    if (end == SignalType.CANCEL) {
                        entered.cancel(false);
                    }
                })
                .flatMapMany(answer -> follow(call, entry, answer));
    }

    /** A failure comes as a value: one that comes after a cancellation has nobody else to be told, and would be logged. */
    private record Answer(@Nullable Refund refund, @Nullable Throwable failure) {}

    /**
     * Not on the store's thread: what follows may block it, or ask the store itself. On one that may wait if the current one
     * may, with what belongs to it.
     */
    private <T> Mono<T> signalled(CompletableFuture<T> stage) {
        Mono<T> signal = Mono.fromFuture(stage, true);
        return stage.isDone() ? signal : signal.publishOn(next());
    }

    private Scheduler next() {
        return EventLoops.isCurrentThread()
                ? Schedulers.parallel()
                : Schedulers.fromExecutor(threads.withCallersContext());
    }

    /** What the subscriber gets: the method's result, its fallback's, or the reason why there is neither. */
    private Publisher<?> follow(LimitedCall call, AcquireRequest entry, Answer answer) {
        if (answer.refund != null) {
            return entry.refundable() ? refunding(call, entry, answer.refund) : body(call);
        }
        Throwable failure = Futures.unwrap(Objects.requireNonNull(answer.failure));
        return failure instanceof RateLimitExceededException rejection
                ? publisher(() -> call.instead(rejection))
                : Mono.error(failure);
    }

    private Publisher<?> refunding(LimitedCall call, AcquireRequest entry, Refund refund) {
        return Flux.from(body(call))
                .onErrorResume(failure -> signalled(
                                call.giveBack(entry, refund, failure).toCompletableFuture())
                        .then(Mono.error(failure)));
    }

    private Publisher<?> body(LimitedCall call) {
        return publisher(call::proceedAnew);
    }

    private Publisher<?> publisher(Invocation invocation) {
        Object result;
        try {
            result = invocation.run();
        } catch (Throwable failure) {
            return Mono.error(failure);
        }
        if (result == null) {
            return Mono.empty();
        }
        return adapter == null || result instanceof Publisher ? (Publisher<?>) result : adapter.toPublisher(result);
    }

    @FunctionalInterface
    private interface Invocation {

        @Nullable
        Object run() throws Throwable;
    }
}
