package io.ratelimit.redis.script;

import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.internal.limit.AlgorithmTraits;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.internal.limit.CalendarWindows;
import io.ratelimit.internal.limit.CalendarWindows.Window;
import io.ratelimit.internal.limit.LimitNumbers;
import io.ratelimit.internal.limit.LimitNumbers.Batch;
import io.ratelimit.redis.AlgorithmParts;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Encodes a limit's rule for the script, which also writes it into the value of a bucket: {@code T20@1/100ms} is a bucket
 * of 20 that gets one permit back every 100 ms, {@code F20/2s} is 20 in a window of 2 s, {@code C20/month} is 20 in a month,
 * {@code Xnightly_20@1/100ms} is a bucket of 20 that the application's algorithm {@code nightly} counts.
 * Limits with the same text share their state.
 */
final class RuleCodec {

    private static final char AHEAD = '>';

    private static final char SPACED = '~';

    private static final char DRY_RUN = '?';

    private static final char BLOCKS = '#';

    private static final char STARTS = '|';

    private RuleCodec() {}

    /**
     * Returns the rule and its options, which are not part of a bucket's value: {@code >500000} if permits may be reserved
     * so many microseconds ahead, {@code ~} if calls are spaced, {@code ?} for a dry run,
     * {@code #60000000,600000000} if violations block the key for so many microseconds.
     */
    static String withOptions(RateLimit limit) {
        long ahead = limit.hasRate() ? limit.maxWait().toNanos() / 1_000 : 0;
        return of(limit)
                + (ahead > 0 ? AHEAD + Long.toString(ahead) : "")
                + (limit.numbers().traits().has(Trait.SPACES_CALLS) ? SPACED : "")
                + (limit.dryRun() ? DRY_RUN : blocks(limit));
    }

    /**
     * Returns the same for a limit with calendar windows, and where they begin, in seconds of the epoch:
     * {@code |1793491200,1796083200}.
     *
     * @param micros the server's time, which is in the second of these windows
     */
    static String withOptions(RateLimit limit, CalendarWindows windows, long micros) {
        Window now = windows.at(micros);
        Window next = windows.find(now.end());
        return withOptions(limit)
                + LongStream.of(windows.find(now.start() - 1).start(), now.start(), next.start(), next.end())
                        .mapToObj(start -> Long.toString(start / 1_000_000))
                        .collect(Collectors.joining(",", STARTS + "", ""));
    }

    private static String blocks(RateLimit limit) {
        return limit.blockFor().isEmpty()
                ? ""
                : BLOCKS
                        + limit.blockFor().stream()
                                .map(duration -> Long.toString(duration.toNanos() / 1_000))
                                .collect(Collectors.joining(","));
    }

    static String of(RateLimit limit) {
        AlgorithmTraits traits = limit.numbers().traits();
        RateLimitAlgorithm own = limit.ownAlgorithm();
        String name = own == null ? "" : AlgorithmParts.name(own) + "_";
        String capacity = traits.has(Trait.IS_WINDOW) ? "" : limit.capacity() + "@";
        return traits.letter() + name + capacity + batch(limit);
    }

    private static Rate batch(RateLimit limit) {
        LimitNumbers numbers = limit.numbers();
        Batch batch = numbers.traits().batch(numbers);
        return numbers.calendar() != null
                ? limit.rate()
                : new Rate(batch.permits(), Duration.of(batch.micros(), ChronoUnit.MICROS));
    }
}
