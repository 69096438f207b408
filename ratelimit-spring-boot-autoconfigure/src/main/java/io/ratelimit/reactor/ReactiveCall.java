package io.ratelimit.reactor;

import io.ratelimit.Internal;
import io.ratelimit.internal.concurrent.Futures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.scheduler.Scheduler;
import reactor.util.context.ContextView;

/** Makes one call whose body is a publisher. */
@Internal
public final class ReactiveCall {

    /** The key by which Micrometer and Spring pass an observation on. */
    private static final String OBSERVATION = "micrometer.observation";

    private ReactiveCall() {}

    /** Returns the observation in a subscriber's context, which the call is part of; {@code null} if there is none. */
    public static @Nullable Object observation(ContextView context) {
        return context.getOrDefault(OBSERVATION, null);
    }

    /**
     * Subscribes to the body of the call when its limits have decided. A subscriber that is cancelled before stops waiting. What
     * the call holds is released before the subscriber learns of its end, so that it can call again at once, or after it was
     * cancelled, also if the call is admitted at that moment.
     *
     * <p>Must be called by the function that starts the decision: a subscriber that is cancelled meanwhile is told so when the
     * publisher is subscribed to, and the call holds nothing.
     *
     * @param decision completes with what the call holds
     * @param next where the call continues after a decision of another thread
     * @param single whether the value of the call counts as its end
     * @param release may be called several times; {@code null}: the call holds nothing
     * @param body receives what the decision has completed with, or its failure; both if no thread continues the call
     */
    public static <E, T> Flux<T> of(
            CompletionStage<E> decision,
            Supplier<Scheduler> next,
            boolean single,
            @Nullable Consumer<E> release,
            BiFunction<@Nullable E, @Nullable Throwable, Publisher<T>> body) {
        CompletableFuture<E> entered = decision.toCompletableFuture();
        Flux<T> values = signalled(entered.<Outcome<E>>handle(Outcome::new), next)
                .onErrorResume(refused -> Mono.just(new Outcome<>(entered.getNow(null), refused)))
                // doFinally: the response to the cancellation must not reach the subscriber.
                .doFinally(end -> {
                    if (end == SignalType.CANCEL) {
                        entered.cancel(false);
                    }
                })
                .flatMapMany(outcome -> guarded(Flux.defer(() -> body.apply(
                        outcome.entered, outcome.failure == null ? null : Futures.unwrap(outcome.failure)))));
        if (release == null) {
            return values;
        }
        Runnable end = () -> {
            var unused = entered.thenAccept(release);
        };
        return (single ? values.doOnNext(value -> end.run()) : values)
                .doOnComplete(end)
                // Not doOnTerminate, which throws a fatal error instead of signalling it.
                .onErrorMap(failure -> {
                    end.run();
                    return failure;
                })
                .doFinally(signal -> end.run());
    }

    /**
     * Signals what subscribing throws. Reactor throws fatal errors, such as a {@link LinkageError}: the executor or the future that
     * continues the call would swallow it, and the call would not end.
     */
    public static <T> Publisher<T> guarded(Publisher<T> body) {
        return subscriber -> {
            try {
                body.subscribe(subscriber);
            } catch (Throwable thrown) {
                subscriber.onError(thrown);
            }
        };
    }

    /** Continues on another thread than that of the stage, unless it is complete: a thread of the store must not block. */
    public static <T> Mono<T> signalled(CompletableFuture<T> stage, Supplier<Scheduler> next) {
        if (stage.isDone() && !stage.isCompletedExceptionally()) {
            // A future swallows what a subscriber throws.
            return Mono.justOrEmpty(stage.getNow(null));
        }
        Mono<T> signal = Mono.fromFuture(stage, true);
        return stage.isDone() ? signal : signal.publishOn(next.get());
    }

    /** Carries a failure as a value, because Reactor logs an error signal after a cancellation. */
    private record Outcome<E>(@Nullable E entered, @Nullable Throwable failure) {}
}
