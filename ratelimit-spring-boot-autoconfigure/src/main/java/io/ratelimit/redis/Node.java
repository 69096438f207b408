package io.ratelimit.redis;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One server, which is asked only while it is known to answer. It is not once half of the last calls have failed or were
 * slow; nor once a call has failed for a reason of the server's while nobody else had an answer either, so that a server
 * that hangs costs a caller no second wait. From then on only probes are sent, one after the other; the first that
 * is answered well ends it.
 */
final class Node {

    private static final int CALLS = 20;

    private static final int FEWEST_CALLS = 10;

    private static final float HALF = 50;

    private final String name;

    private final CircuitBreaker breaker;

    private final Consumer<Node> onOpen;

    private final LongSupplier nanos;

    private final BooleanSupplier closing;

    private volatile long lastAnswer;

    private volatile @Nullable RateLimitStoreException trouble;

    /**
     * @param timeout after which a caller goes without an answer
     * @param nanos a clock
     * @param closing whether all is being closed, so that what fails need not surprise
     * @param onOpen told when it is no longer asked
     */
    Node(String name, Duration timeout, LongSupplier nanos, BooleanSupplier closing, Consumer<Node> onOpen) {
        this.name = name;
        this.nanos = nanos;
        this.closing = closing;
        this.lastAnswer = nanos.getAsLong();
        this.breaker = CircuitBreaker.of("ratelimit-" + name, config(timeout));
        this.onOpen = onOpen;
    }

    private static CircuitBreakerConfig config(Duration timeout) {
        return CircuitBreakerConfig.custom()
                .slidingWindow(CALLS, FEWEST_CALLS, SlidingWindowType.COUNT_BASED)
                .failureRateThreshold(HALF)
                .slowCallRateThreshold(HALF)
                .slowCallDurationThreshold(timeout.multipliedBy(4).dividedBy(5))
                .permittedNumberOfCallsInHalfOpenState(1)
                .build();
    }

    String name() {
        return name;
    }

    boolean isOpen() {
        return breaker.getState() != State.CLOSED;
    }

    /** It is no longer there, and nobody has to ask it. */
    void retire() {
        breaker.transitionToClosedState();
    }

    /** Asks it, if it is known to answer. */
    <T> CompletableFuture<T> ask(Supplier<CompletionStage<T>> command, Bound bound) {
        return isOpen() ? CompletableFuture.failedFuture(shortCircuited()) : observed(command, bound);
    }

    /** Asks it, if it is known to answer. What becomes of it has no effect on whether it is asked again. */
    <T> CompletableFuture<T> askInBackground(Supplier<CompletionStage<T>> command, Bound bound) {
        if (isOpen()) {
            return CompletableFuture.failedFuture(shortCircuited());
        }
        return bound.bound(started(command)).handle((answer, thrown) -> {
            if (thrown != null) {
                throw failure(thrown);
            }
            return answer;
        });
    }

    /** Asks whether it answers again. One probe at a time. */
    <T> CompletableFuture<T> probe(Supplier<CompletionStage<T>> command, Bound bound) {
        breaker.transitionToHalfOpenState();
        return breaker.tryAcquirePermission()
                ? observed(command, bound)
                : CompletableFuture.failedFuture(shortCircuited());
    }

    private RateLimitStoreException shortCircuited() {
        RateLimitStoreException known = trouble;
        return new RateLimitStoreException(
                Reason.SHORT_CIRCUITED,
                known == null ? name + ": not asked, because it fails" : "Not asked, because of " + known.getMessage(),
                known);
    }

    private <T> CompletableFuture<T> observed(Supplier<CompletionStage<T>> command, Bound bound) {
        long sent = nanos.getAsLong();
        return bound.bound(started(command)).handle((answer, thrown) -> {
            RateLimitStoreException failure = thrown == null ? null : failure(thrown);
            boolean wasOpen = isOpen();
            if (failure == null || isNoneOfTheServer(failure)) {
                answered(sent);
            } else {
                failed(sent, failure);
            }
            // Not by an event of the breaker: it would make one for every call.
            if (!wasOpen && isOpen()) {
                onOpen.accept(this);
            }
            if (failure != null) {
                throw failure;
            }
            return answer;
        });
    }

    private RateLimitStoreException failure(Throwable thrown) {
        RateLimitStoreException failure = RedisFailures.of(name, thrown);
        return closing.getAsBoolean()
                ? new RateLimitStoreException(Reason.CLOSED, String.valueOf(failure.getMessage()), failure)
                : failure;
    }

    private static <T> CompletableFuture<T> started(Supplier<CompletionStage<T>> command) {
        try {
            return command.get().toCompletableFuture();
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private void answered(long sent) {
        long now = nanos.getAsLong();
        lastAnswer = now;
        breaker.onSuccess(now - sent, TimeUnit.NANOSECONDS);
    }

    private void failed(long sent, RateLimitStoreException failure) {
        if (failure.getReason() == Reason.CLOSED) {
            return;
        }
        trouble = failure;
        boolean alone = concernsAll(failure.getReason()) && lastAnswer - sent <= 0;
        breaker.onError(nanos.getAsLong() - sent, TimeUnit.NANOSECONDS, failure);
        if (alone && !isOpen()) {
            breaker.transitionToOpenState();
        }
    }

    private static boolean isNoneOfTheServer(RateLimitStoreException failure) {
        return failure.getReason() == Reason.FOREIGN_VALUE || RedisFailures.isOnTheMove(failure);
    }

    /** All but what may be wrong with this call alone, or too much of a good thing. */
    private static boolean concernsAll(Reason reason) {
        return reason != Reason.ERROR && reason != Reason.OVERLOADED;
    }
}
