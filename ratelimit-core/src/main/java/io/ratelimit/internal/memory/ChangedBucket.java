package io.ratelimit.internal.memory;

import io.ratelimit.BucketStatus;
import io.ratelimit.spi.BucketChange;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A bucket after an operator's change.
 *
 * @param next the state to be stored; {@code null}: full
 */
record ChangedBucket(@Nullable BucketState next, BucketStatus status) {

    /** A pure function. */
    static ChangedBucket of(CompiledLimit limit, @Nullable BucketState last, long clock, BucketChange change) {
        ClockSkew skew = BucketState.skew(last, clock);
        long now = skew == null ? clock : skew.seen();
        BucketState state = BucketState.of(limit.rule(), last, skew, now).change(change, now);
        RuleState<?> own = state.own();
        BucketStatus status = new BucketStatus(
                limit.capacity(),
                Math.max(0, limit.capacity() - own.used(now)),
                micros(own.resetAfter(now)),
                micros(state.blockedFor(now)));
        return new ChangedBucket(state.settled(now), status);
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
