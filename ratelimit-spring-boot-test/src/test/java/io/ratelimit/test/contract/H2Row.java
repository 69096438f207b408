package io.ratelimit.test.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.RateLimitAlgorithm.State;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import java.math.BigInteger;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/** A bucket of {@link H2RateLimitStore} at one time, whose algorithm consists of the functions that an application can write. */
final class H2Row {

    private final RateLimitAlgorithm algorithm;

    private final Rule rule;

    private long now;

    private State state;

    H2Row(RateLimit limit) {
        this.algorithm = limit.ownAlgorithm() == null ? new Bucket() : limit.ownAlgorithm();
        long micros = limit.rate().period().toNanos() / 1_000;
        long divisor = BigInteger.valueOf(micros)
                .gcd(BigInteger.valueOf(limit.rate().permits()))
                .longValue();
        this.rule = new Rule(limit.capacity(), limit.rate().permits() / divisor, micros / divisor);
    }

    /** The state means something to these numbers alone. */
    String numbers() {
        return algorithm.name() + " " + rule.permits() + "/" + rule.periodMicros();
    }

    State state() {
        return state;
    }

    /** What was taken by other numbers counts as taken now. If the clock was set back, permits begin to come back again. */
    void read(String numbers, long used, long since, long rest, long clock) {
        now = clock;
        State read = new State(used, Math.min(since, now), rest);
        state = used > 0 && numbers.equals(numbers()) ? algorithm.recover(rule, read, now) : new State(0, now, 0);
        if (used > 0 && !numbers.equals(numbers())) {
            take(used);
        }
    }

    boolean holds(Charge charge) {
        return charge.permits() == 0 || charge.permits() <= rule.capacity() - used();
    }

    private long used() {
        return state.used() == 0 ? 0 : algorithm.used(rule, state, now);
    }

    void take(long permits) {
        state = permits == 0 ? state : algorithm.take(rule, state, now, permits);
    }

    BucketStatus change(BucketChange change) {
        if (change.equals(BucketChange.RESET)) {
            reset();
        } else {
            grant(change.amount());
        }
        return new BucketStatus(rule.capacity(), remaining(), resetAfter(), Duration.ZERO);
    }

    private void reset() {
        state = new State(0, now, 0);
    }

    private void grant(long permits) {
        long granted = Math.min(permits, state.used());
        state = granted <= 0 ? state : algorithm.refund(rule, state, now, granted);
        if (state.used() == 0) {
            reset();
        }
    }

    /** Refunds no more than would still be in use if there had been no calls since. */
    void refund(long permits, State charged) {
        State left = algorithm.recover(rule, charged, now);
        grant(Math.min(permits, left.used()));
    }

    RateLimitDecision decision(boolean available, long permits) {
        Duration retryAfter = Duration.ZERO;
        if (!available) {
            retryAfter = permits > rule.capacity()
                    ? null
                    : micros(algorithm.timeUntil(rule, state, now, rule.capacity() - permits));
        }
        return new RateLimitDecision(available, rule.capacity(), remaining(), Duration.ZERO, retryAfter, resetAfter());
    }

    private long remaining() {
        return Math.max(0, rule.capacity() - used());
    }

    private Duration resetAfter() {
        return state.used() == 0 ? Duration.ZERO : micros(algorithm.resetAfter(rule, state, now));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
