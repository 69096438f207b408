package io.ratelimit.aop;

import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.expression.CallerRequest;
import io.ratelimit.expression.ReactiveCallerRequests;
import io.ratelimit.limiter.AcquireRequest;
import io.ratelimit.limiter.Settlement;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.reactor.ReactiveObservation;
import io.ratelimit.reactor.ReactorSchedulers;
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
 * Treats every subscription as a call: charges it and calls the method for it. Blocks no thread and signals the rejection as
 * an error.
 */
final class ReactiveStrategy implements ReturnTypeStrategy {

    private final @Nullable ReactiveAdapter adapter;

    private final boolean multiValue;

    private final CallerRequest.Source ofThread;

    private final ReactiveCallerRequests ofContext;

    private final ContextPropagatingExecutor executor;

    /**
     * @param adapter converts from and to the return type; {@code null} if it is a publisher
     * @param multiValue whether the method returns several values
     */
    ReactiveStrategy(
            @Nullable ReactiveAdapter adapter,
            boolean multiValue,
            CallerRequest.Source ofThread,
            ReactiveCallerRequests ofContext,
            ContextPropagatingExecutor executor) {
        this.adapter = adapter;
        this.multiValue = multiValue;
        this.ofThread = ofThread;
        this.ofContext = ofContext;
        this.executor = executor;
    }

    @Override
    public Object call(LimitedCall call) {
        CallerRequest caller = ofThread.current();
        Flux<?> values = ofContext
                .current(call.charges().readsPrincipal())
                .map(Optional::of)
                .defaultIfEmpty(Optional.ofNullable(caller))
                .flatMapMany(request -> enter(call, request.orElse(null)));
        // fromDirect: the method must complete, and not be cancelled after its value.
        Publisher<?> result = multiValue ? values : Mono.fromDirect(values);
        return adapter == null ? result : adapter.fromPublisher(result);
    }

    private Publisher<?> enter(LimitedCall call, @Nullable CallerRequest request) {
        CompletableFuture<AcquireRequest> planned = call.acquireRequestAsync(request);
        return planned.isDone()
                ? enter(call, BoundedWait.result(planned))
                : signalled(planned).flatMapMany(acquire -> enter(call, acquire));
    }

    private Publisher<?> enter(LimitedCall call, AcquireRequest acquire) {
        if (acquire.charges().isEmpty()) {
            return body(call);
        }
        return call.gate().isTracing()
                ? Flux.deferContextual(context -> enter(call, acquire, ReactiveObservation.in(context)))
                : enter(call, acquire, null);
    }

    private Publisher<?> enter(LimitedCall call, AcquireRequest acquire, @Nullable Object observation) {
        CompletableFuture<Settlement> entered =
                call.gate().enterAsync(acquire, observation).toCompletableFuture();
        Flux<?> values = signalled(entered.handle(Outcome::new))
                // doFinally: the response to the cancellation must not reach the subscriber.
                .doFinally(end -> {
                    if (end == SignalType.CANCEL) {
                        entered.cancel(false);
                    }
                })
                .flatMapMany(outcome -> follow(call, acquire, outcome));
        return call.charges().holdsPermits() ? releasing(values, call, entered) : values;
    }

    /**
     * Releases the permits that the call holds: before the subscriber learns of its end, so that it can call again at once, or
     * after it was cancelled. The value of a single-valued publisher counts as its end.
     */
    private Publisher<?> releasing(Flux<?> values, LimitedCall call, CompletableFuture<Settlement> entered) {
        Runnable release = () -> {
            if (entered.isDone() && !entered.isCompletedExceptionally()) {
                entered.getNow(Settlement.NONE).release();
            }
        };
        Flux<?> single = multiValue
                ? values
                : values.doOnNext(value -> {
                    release.run();
                    call.returned(value);
                });
        return single.doOnTerminate(release).doFinally(end -> release.run());
    }

    /** Carries a failure as a value, because Reactor logs an error signal after a cancellation. */
    private record Outcome(
            @Nullable Settlement settlement, @Nullable Throwable failure) {}

    /**
     * Continues on another thread than that of the store, which must not block: on the current event loop, or on a blocking
     * thread with the caller's context if the current thread may block.
     */
    private <T> Mono<T> signalled(CompletableFuture<T> stage) {
        Mono<T> signal = Mono.fromFuture(stage, true);
        return stage.isDone() ? signal : signal.publishOn(next());
    }

    private Scheduler next() {
        return EventLoops.isCurrentThread()
                ? ReactorSchedulers.eventLoopOrParallel()
                : Schedulers.fromExecutor(executor.withCallersContext());
    }

    /** Returns the result of the method or of its fallback, or the failure. */
    private Publisher<?> follow(LimitedCall call, AcquireRequest acquire, Outcome outcome) {
        if (outcome.settlement != null) {
            return acquire.refundable()
                    ? settling(body(call), new CallCosts(call, acquire, outcome.settlement))
                    : body(call);
        }
        Throwable failure = Futures.unwrap(Objects.requireNonNull(outcome.failure));
        return publisher(() -> call.fallback(failure));
    }

    private Publisher<?> settling(Publisher<?> body, CallCosts costs) {
        Flux<?> values = Flux.from(body);
        if (costs.needResults() || !multiValue) {
            values = (multiValue ? values.doOnNext(costs::add) : values.<Object>map(costs::noted))
                    .doOnComplete(costs::completed)
                    .doOnCancel(costs::cancelled);
        }
        return values.onErrorResume(failure ->
                signalled(costs.failed(failure).toCompletableFuture()).then(Mono.error(failure)));
    }

    private Publisher<?> body(LimitedCall call) {
        return publisher(call::proceedAgain);
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
