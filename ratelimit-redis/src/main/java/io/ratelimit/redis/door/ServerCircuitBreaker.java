package io.ratelimit.redis.door;

import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig.SlidingWindowType;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.door.CircuitState.Closed;
import io.ratelimit.redis.door.CircuitState.Open;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls one server as long as it replies. Opens if half of the last calls failed or were slow. Opens at once if a call fails for a
 * reason that concerns the whole server and no other call has succeeded meanwhile, so that callers wait only once for a
 * hanging server. While the breaker is open, only probes are sent, one at a time; the first success closes it.
 */
public final class ServerCircuitBreaker {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final int CALLS = 20;

    private static final int FEWEST_CALLS = 10;

    private static final float HALF = 50;

    /** An open breaker requests probes again after this time without one. A probe that takes longer is lost. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final String name;

    private final long slowNanos;

    private final long patienceNanos;

    private final CircuitState circuit;

    private final Consumer<ServerCircuitBreaker> onOpen;

    private final LongSupplier nanos;

    private final LongSupplier awakeNanos;

    private final Function<Throwable, RateLimitStoreException> failures;

    private final AtomicLong nextReminder = new AtomicLong();

    private volatile long lastAnswer;

    /**
     * @param timeout of a call
     * @param nanos the clock for probes
     * @param awakeNanos the clock for calls, which may stop while this JVM is stalled
     * @param failures maps what a call has failed with
     * @param onOpen starts the probes; called again while the breaker is open without probes
     */
    ServerCircuitBreaker(
            String name,
            Duration timeout,
            LongSupplier nanos,
            LongSupplier awakeNanos,
            Function<Throwable, RateLimitStoreException> failures,
            Consumer<ServerCircuitBreaker> onOpen) {
        this.name = name;
        this.nanos = nanos;
        this.awakeNanos = awakeNanos;
        this.failures = failures;
        this.onOpen = onOpen;
        this.lastAnswer = awakeNanos.getAsLong();
        Duration slow = timeout.multipliedBy(4).dividedBy(5);
        this.slowNanos = slow.toNanos();
        this.patienceNanos = timeout.plus(PATIENCE).toNanos();
        CircuitBreakerConfig config = config(slow);
        this.circuit = new CircuitState(() -> CircuitBreaker.of("ratelimit-" + name, config));
    }

    private static CircuitBreakerConfig config(Duration slow) {
        // Spring Cloud Circuit Breaker has 2.2 or 2.3, which lacks slidingWindow(int, int, SlidingWindowType).
        return CircuitBreakerConfig.custom()
                .slidingWindowType(SlidingWindowType.COUNT_BASED)
                .slidingWindowSize(CALLS)
                .minimumNumberOfCalls(FEWEST_CALLS)
                .failureRateThreshold(HALF)
                .slowCallRateThreshold(HALF)
                .slowCallDurationThreshold(slow)
                .build();
    }

    String name() {
        return name;
    }

    public boolean isOpen() {
        return circuit.closed() == null;
    }

    /** Returns whether a probe is under way and not lost. */
    boolean isProbed() {
        return circuit.isProbed(nanos.getAsLong(), patienceNanos);
    }

    /** Closes the breaker of a server that no longer exists. */
    void retire() {
        circuit.retire();
    }

    /**
     * Returns whether the connection may be dead: the breaker is closed, a check has failed, and no call was answered since it
     * began.
     */
    boolean isSilent(long since, Throwable thrown) {
        RateLimitStoreException failure = failures.apply(thrown);
        return !isOpen() && !isCallersFault(failure) && failure.getReason() != Reason.CLOSED && lastAnswer - since <= 0;
    }

    /** Calls the server, unless the breaker is open. */
    <T> ServerCall<T> call(Supplier<CompletionStage<T>> command) {
        Closed during = circuit.closed();
        if (during == null) {
            return refuse();
        }
        long sent = awakeNanos.getAsLong();
        return sent(command, failure -> judge(during, sent, failure));
    }

    /** Calls the server, unless the breaker is open. The result does not count towards the breaker. */
    <T> ServerCall<T> callInBackground(Supplier<CompletionStage<T>> command) {
        return isOpen() ? refuse() : sent(command, failure -> {});
    }

    private <T> ServerCall<T> refuse() {
        remind();
        return shortCircuited();
    }

    /** Probes the server of an open breaker, unless a probe is under way. */
    <T> ServerCall<T> probe(Supplier<CompletionStage<T>> command) {
        long now = nanos.getAsLong();
        nextReminder.set(now + patienceNanos);
        Open probe = circuit.probe(now, patienceNanos);
        long sent = awakeNanos.getAsLong();
        return probe == null ? shortCircuited() : sent(command, failure -> judge(probe, sent, failure));
    }

    private <T> ServerCall<T> shortCircuited() {
        RateLimitStoreException cause = circuit.cause();
        return ServerCall.unsent(new RateLimitStoreException(
                Reason.SHORT_CIRCUITED,
                name + ": circuit breaker open" + (cause == null ? "" : " (" + cause.getMessage() + ")"),
                cause));
    }

    private <T> ServerCall<T> sent(
            Supplier<CompletionStage<T>> command, Consumer<@Nullable RateLimitStoreException> judge) {
        return new ServerCall<>(Futures.start(command), thrown -> {
            RateLimitStoreException failure = thrown == null ? null : failures.apply(thrown);
            count(judge, failure);
            return failure;
        });
    }

    /** Counts the call. A failure to count it does not affect the caller. */
    private void count(Consumer<@Nullable RateLimitStoreException> judge, @Nullable RateLimitStoreException failure) {
        try {
            judge.accept(failure);
        } catch (Throwable ex) {
            logger.log(Level.WARNING, name + ": the circuit breaker did not count a call (" + ex + ")");
        }
    }

    private void judge(Closed during, long sent, @Nullable RateLimitStoreException failure) {
        long now = awakeNanos.getAsLong();
        boolean opens = false;
        if (failure == null || isCallersFault(failure)) {
            lastAnswer = now;
            during.window().onSuccess(now - sent, TimeUnit.NANOSECONDS);
        } else if (failure.getReason() != Reason.CLOSED) {
            opens = concernsAll(failure.getReason()) && lastAnswer - sent <= 0;
            during.window().onError(now - sent, TimeUnit.NANOSECONDS, failure);
        }
        // Not by an event of the window, which would be created for every call.
        if (opens || during.window().getState() != State.CLOSED) {
            nextReminder.set(nanos.getAsLong() + patienceNanos);
            if (circuit.open(during, failure == null ? tooSlow() : failure)) {
                startProbes();
            }
        }
    }

    private void judge(Open probe, long sent, @Nullable RateLimitStoreException failure) {
        long now = awakeNanos.getAsLong();
        if (failure != null && !isCallersFault(failure)) {
            circuit.open(probe, failure.getReason() == Reason.CLOSED ? probe.cause() : failure);
        } else if (now - sent > slowNanos) {
            circuit.open(probe, tooSlow());
        } else {
            lastAnswer = now;
            circuit.succeeded(probe);
        }
    }

    private RateLimitStoreException tooSlow() {
        return new RateLimitStoreException(Reason.TIMEOUT, name + ": answers too slowly", null);
    }

    /** Restarts probes that have ended, such as by a thread that could not be created. */
    private void remind() {
        long due = nextReminder.get();
        long now = nanos.getAsLong();
        if (now - due >= 0 && nextReminder.compareAndSet(due, now + patienceNanos)) {
            startProbes();
        }
    }

    private void startProbes() {
        try {
            onOpen.accept(this);
        } catch (Throwable ex) {
            logger.log(Level.WARNING, "Cannot probe " + name + " now (" + ex + "); trying again soon");
        }
    }

    private static boolean isCallersFault(RateLimitStoreException failure) {
        return failure.getReason() == Reason.FOREIGN_VALUE
                || failure.getReason() == Reason.ALGORITHM
                || RedisFailureMapper.areKeysApart(failure);
    }

    /** Returns whether the failure affects all calls, rather than this call alone or the load. */
    private static boolean concernsAll(Reason reason) {
        return reason != Reason.ERROR && reason != Reason.OVERLOADED;
    }
}
