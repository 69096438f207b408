package io.ratelimit.reactor;

import io.ratelimit.AllCallers;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Limits a {@link Mono} or a {@link Flux}: every subscription is a call.
 *
 * <pre>{@code
 * Mono<Quote> quote = client.quote(id).transform(RateLimiterOperator.of(limiter, tenant));
 * }</pre>
 *
 * <p>The publisher is subscribed to when the limit has admitted the call, after its wait if there is one. Subscribing again, such
 * as by {@code retry} and {@code repeat} after this operator, is another call. A rejection is an error signal, a
 * {@link RateLimitExceededException}. No thread is blocked, and the publisher's signals and requests pass unchanged.
 *
 * <p>Permits of a concurrency limit are released when the publisher terminates, before its subscriber learns of that, or when the
 * subscription is cancelled. The value of a {@code Mono} counts as its end. A subscription that is cancelled before it was
 * admitted stops waiting.
 *
 * <p>If the decision is not there at once, the publisher is subscribed to on another thread: of {@code Schedulers.parallel()} if
 * the subscriber's must not block, otherwise of {@code Schedulers.boundedElastic()}.
 */
public final class RateLimiterOperator<T> implements UnaryOperator<Publisher<T>> {

    private final Supplier<CompletionStage<RateLimiter.Entry>> limiter;

    private RateLimiterOperator(Supplier<CompletionStage<RateLimiter.Entry>> limiter) {
        this.limiter = limiter;
    }

    /** Takes one permit of the one bucket of all callers for each subscription. */
    public static <T> RateLimiterOperator<T> of(AllCallers callers) {
        Objects.requireNonNull(callers);
        return new RateLimiterOperator<>(callers::enterAsync);
    }

    /** Takes one permit for each subscription. */
    public static <T> RateLimiterOperator<T> of(RateLimiter limiter, String key) {
        return of(limiter, key, 1);
    }

    /**
     * Takes permits for each subscription. A key that is null or empty, and a negative number of permits, are error signals.
     *
     * @param key whose bucket is charged
     */
    public static <T> RateLimiterOperator<T> of(RateLimiter limiter, String key, long permits) {
        Objects.requireNonNull(limiter);
        return new RateLimiterOperator<>(() -> limiter.enterAsync(key, permits));
    }

    /** Returns a {@link Mono} for a {@code Mono}, and a {@link Flux} for every other publisher. */
    @Override
    public Publisher<T> apply(Publisher<T> publisher) {
        return publisher instanceof Mono
                // fromDirect: the publisher must complete, and not be cancelled after its value.
                ? Mono.fromDirect(Flux.defer(() -> enter(publisher, true)))
                : Flux.defer(() -> enter(publisher, false));
    }

    private Publisher<T> enter(Publisher<T> publisher, boolean single) {
        return ReactiveCall.of(
                limiter.get(),
                RateLimiterOperator::next,
                single,
                RateLimiter.Entry::close,
                (entry, failure) -> failure == null ? publisher : Mono.error(failure));
    }

    private static Scheduler next() {
        return Schedulers.isInNonBlockingThread() ? Schedulers.parallel() : Schedulers.boundedElastic();
    }
}
