package io.ratelimit.benchmarks.race;

import java.time.Duration;

/**
 * The limit that all contestants of a line have.
 *
 * @param capacity the most permits at once
 * @param permits so many come in a period
 */
public record Quota(long capacity, long permits, Duration period) {

    /** {@link #PLENTY}'s, for annotations. */
    public static final long PLENTY_CAPACITY = 1_000_000_000;

    /** {@link #PLENTY}'s, for annotations. */
    public static final String PLENTY_RATE = "1/4s";

    /** {@link #ONCE_A_DAY}'s, for annotations. */
    public static final String ONCE_A_DAY_RATE = "1/d";

    /** More than a run in memory can use up. */
    public static final Quota PLENTY = new Quota(PLENTY_CAPACITY, 1, Duration.ofSeconds(4));

    /** The same for windows. */
    public static final Quota PLENTY_IN_A_WINDOW = new Quota(PLENTY_CAPACITY, PLENTY_CAPACITY, Duration.ofHours(1));

    /** The same for a log: a window in which no thread can call that often. */
    public static final Quota PLENTY_IN_A_LOG = new Quota(10_000, 10_000, Duration.ofNanos(250_000));

    /** Used up by the first call. */
    public static final Quota ONCE_A_DAY = new Quota(1, 1, Duration.ofDays(1));

    /**
     * More than a run in Redis can use up. It comes back slowly: a bucket that is full again is forgotten, and what is
     * measured is a bucket in use.
     */
    public static final Quota LASTING = new Quota(5_000_000, 1, Duration.ofMinutes(10));

    /** The same, for contestants that take more. */
    public static final Quota FOR_LEASES = new Quota(75_000_000, 1, Duration.ofMinutes(1));

    /** The same for windows: an hour is longer than a run. */
    public static final Quota LASTING_WINDOW = new Quota(5_000_000, 5_000_000, Duration.ofHours(1));

    /** The same for logs, of keys that are called now and then. A log has an entry for each call in its window. */
    public static final Quota LASTING_LOG = new Quota(10_000, 10_000, Duration.ofHours(1));

    /** The same for the log of one key that is called all the time: it remembers a part of a turn, and not the run. */
    public static final Quota HOT_LOG = new Quota(10_000, 10_000, Duration.ofMillis(40));

    /** As a user might write it, and lasting: bytes are counted when all keys are there. */
    public static final Quota TWENTY_A_DAY = new Quota(20, 20, Duration.ofDays(1));

    /** As our properties have it. */
    public String rate() {
        return permits + "/" + period;
    }
}
