package io.ratelimit.aop;

import io.ratelimit.expression.ReactiveRequestCallSource;
import io.ratelimit.expression.RequestCall;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.limiter.AcquireRequest;
import io.ratelimit.internal.limiter.Settlement;
import io.ratelimit.reactor.EventLoops;
import io.ratelimit.reactor.ReactiveCall;
import io.ratelimit.reactor.ReactorSchedulers;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.ReactiveAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

/**
 * Treats every subscription as a call: charges it and calls the method for it. Blocks no thread and signals the rejection as
 * an error.
 *
 * @param adapter converts from and to the return type; {@code null} if it is a publisher
 * @param multiValue whether the method returns several values
 */
record ReactiveStrategy(
        @Nullable ReactiveAdapter adapter,
        boolean multiValue,
        RequestCall.Source ofThread,
        ReactiveRequestCallSource ofContext,
        CallExecutor executor)
        implements ReturnTypeStrategy {

    @Override
    public Object call(LimitedCall call) {
        RequestCall caller = ofThread.current();
        Flux<?> values = Flux.deferContextual(context -> subscribed(call.again(), caller, context));
        // fromDirect: the method must complete, and not be cancelled after its value.
        Publisher<?> result = multiValue ? values : Mono.fromDirect(values);
        return adapter == null ? result : adapter.fromPublisher(result);
    }

    /** @param caller during whose request the method was called */
    private Flux<?> subscribed(LimitedCall call, @Nullable RequestCall caller, ContextView context) {
        return ofContext
                .current(call.charges().readsPrincipal())
                .map(Optional::of)
                .defaultIfEmpty(Optional.ofNullable(caller))
                .flatMapMany(request -> enter(call, request.orElse(null), context));
    }

    private Publisher<?> enter(LimitedCall call, @Nullable RequestCall request, ContextView context) {
        CompletableFuture<AcquireRequest> planned = call.acquireRequestAsync(request);
        return planned.isDone()
                ? enter(call, BoundedWait.result(planned), context)
                : ReactiveCall.signalled(planned, this::next)
                        .flatMapMany(acquire -> ReactiveCall.guarded(Flux.from(enter(call, acquire, context))));
    }

    private Publisher<?> enter(LimitedCall call, AcquireRequest acquire, ContextView context) {
        if (acquire.charges().isEmpty()) {
            return body(call, null);
        }
        Object observation = call.gate().isTracing() ? ReactiveCall.observation(context) : null;
        return ReactiveCall.of(
                call.gate().enterAsync(acquire, observation),
                this::next,
                !multiValue,
                acquire.holdsPermits() ? Settlement::release : null,
                (settlement, failure) -> follow(call, acquire, settlement, failure));
    }

    /** Returns the current event loop, or blocking threads with the caller's context if the current thread may block. */
    private Scheduler next() {
        return EventLoops.isCurrentThread()
                ? ReactorSchedulers.eventLoopOrParallel()
                : Schedulers.fromExecutor(executor.withCallersContext());
    }

    /** Returns the result of the method or of its fallback, or the failure. */
    private Publisher<Object> follow(
            LimitedCall call, AcquireRequest acquire, @Nullable Settlement settlement, @Nullable Throwable failure) {
        if (settlement == null) {
            return body(call, Objects.requireNonNull(failure));
        }
        if (failure != null) {
            CallSettlement.neverBegun(call, acquire, settlement, failure);
            return Mono.error(failure);
        }
        return acquire.refundable() ? settling(call, new CallSettlement(call, acquire, settlement)) : body(call, null);
    }

    private Publisher<Object> settling(LimitedCall call, CallSettlement settlement) {
        Flux<Object> values = Flux.from(ReactiveCall.guarded(body(call, null)));
        if (settlement.needResults() || !multiValue) {
            values = (multiValue
                            ? values.doOnNext(settlement::add)
                            // The subscriber may cancel as soon as it has the value.
                            : values.map(value -> Objects.requireNonNull(settlement.returned(value)))
                                    .doOnNext(call::returned))
                    .doOnComplete(settlement.unlessGoingOn(settlement::completed))
                    .doOnCancel(settlement.unlessGoingOn(settlement::cancelled));
        }
        return values.onErrorResume(
                failure -> ReactiveCall.signalled(settlement.refund(failure).toCompletableFuture(), this::next)
                        .then(Mono.error(failure)));
    }

    /** Returns what the method has returned, or its fallback after a failure. */
    @SuppressWarnings("unchecked") // The return type of the method declares the values.
    private Publisher<Object> body(LimitedCall call, @Nullable Throwable failure) {
        Object result;
        try {
            result = failure == null ? call.proceedAgain() : call.fallback(failure);
        } catch (Throwable thrown) {
            return Mono.error(thrown);
        }
        if (result == null) {
            return Mono.empty();
        }
        return adapter == null || result instanceof Publisher
                ? (Publisher<Object>) result
                : adapter.toPublisher(result);
    }
}
