package io.ratelimit.redis;

import io.ratelimit.Algorithm;
import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.Refill;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * A limit's rule as the script reads it, and as it stands in the value of a bucket: {@code T20@1/100ms}, a bucket of 20
 * that gets one back every 100 ms, or {@code F20/2s}, 20 in a window of 2 s. Limits with the same text count alike.
 */
final class RuleCodec {

    private static final char AHEAD = '>';

    private static final char SPACED = '~';

    private static final char DRY_RUN = '?';

    private RuleCodec() {}

    /**
     * The rule, and what is not as usual: {@code >500000} for so many microseconds that permits may be reserved ahead,
     * {@code ~} for calls that are spaced out, {@code ?} for a dry run. That is the application's business and stands in
     * no bucket.
     */
    static String withOptions(RateLimit limit) {
        long ahead = limit.maxWait().toNanos() / 1_000;
        return of(limit)
                + (ahead > 0 ? AHEAD + Long.toString(ahead) : "")
                + (limit.algorithm() == Algorithm.LEAKY_BUCKET ? SPACED : "")
                + (limit.dryRun() ? DRY_RUN : "");
    }

    static String of(RateLimit limit) {
        return switch (limit.algorithm()) {
            case TOKEN_BUCKET, LEAKY_BUCKET ->
                limit.refill() == Refill.INTERVAL ? "I" + limit.capacity() + '@' + batches(limit) : even(limit);
            case FIXED_WINDOW -> "F" + window(limit);
            case SLIDING_WINDOW -> "S" + window(limit);
            case SLIDING_WINDOW_LOG -> "L" + window(limit);
        };
    }

    /** Both buckets count alike; what sets them apart is when an admitted call may go on. */
    private static String even(RateLimit limit) {
        return "T" + limit.capacity() + '@'
                + rate(limit.pace().permits(), limit.pace().micros());
    }

    /** More than the capacity cannot come back at once. */
    private static Rate batches(RateLimit limit) {
        return new Rate(
                Math.min(limit.rate().permits(), limit.capacity()), limit.rate().period());
    }

    private static Rate window(RateLimit limit) {
        return rate(limit.capacity(), limit.fullMicros());
    }

    private static Rate rate(long permits, long micros) {
        return new Rate(permits, Duration.of(micros, ChronoUnit.MICROS));
    }
}
