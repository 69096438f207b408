package io.ratelimit;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A limit, with numbers that are known to be carried exactly. As a bean it declares a limit without an annotation, and
 * {@code ratelimit.limits.<name>} in the configuration overrides it like any other:
 *
 * <pre>{@code RateLimit.named("exports").capacity(5).rate("1/m").build()}</pre>
 */
public final class RateLimit {

    /** The largest capacity. */
    public static final long MAX_CAPACITY = 1_000_000_000;

    private final String name;

    private final String id;

    private final Algorithm algorithm;

    final AlgorithmTraits traits;

    private final Refill refill;

    private final long capacity;

    private final Rate rate;

    private final ReducedRate pace;

    private final long fullMicros;

    private final Duration maxWait;

    private final long lease;

    private final boolean enabled;

    private final boolean dryRun;

    private final OnStoreFailure onStoreFailure;

    private final RateLimitBuilder declaration;

    private final RateLimit local;

    /** @param local the share of one instance, or {@code null} if that is the whole limit */
    RateLimit(
            RateLimitBuilder declaration,
            String name,
            long capacity,
            Rate rate,
            ReducedRate pace,
            @Nullable RateLimit local) {
        this.declaration = declaration.copy();
        this.name = name;
        this.id = LimitNames.canonical(name);
        this.algorithm = declaration.algorithm;
        this.refill = declaration.refill;
        this.traits = AlgorithmTraits.of(algorithm, refill);
        this.capacity = capacity;
        this.rate = rate;
        this.pace = pace;
        this.fullMicros = pace.fullMicros(capacity);
        this.maxWait = declaration.maxWait;
        this.lease = declaration.lease;
        this.enabled = declaration.enabled;
        this.dryRun = declaration.dryRun;
        this.onStoreFailure = declaration.onStoreFailure;
        this.local = local == null ? this : local;
    }

    /**
     * Starts the declaration of a limit.
     *
     * @param name letters, digits, {@code -} and {@code _}
     */
    public static RateLimitBuilder named(String name) {
        return new RateLimitBuilder(name);
    }

    /** The same limit as the configuration wants it. */
    public RateLimit with(RateLimitSettings settings) {
        return declaration.copy().apply(settings).build();
    }

    public String name() {
        return name;
    }

    /** The name as stores use it: the same for all spellings that mean this limit. */
    public String id() {
        return id;
    }

    public Algorithm algorithm() {
        return algorithm;
    }

    public Refill refill() {
        return refill;
    }

    /** The most permits that can be taken at once. */
    public long capacity() {
        return capacity;
    }

    /** The most permits in the long run. */
    public Rate rate() {
        return rate;
    }

    /** The rate in lowest terms, for those who calculate with it. */
    public ReducedRate pace() {
        return pace;
    }

    /**
     * {@code capacity / rate} in microseconds: a window, or the time in which an empty bucket fills. Rounded up, which is
     * still exact for a window that begins with a call, because calls come at whole microseconds; a window that does not
     * is a whole number of them.
     */
    public long fullMicros() {
        return fullMicros;
    }

    /** How far ahead permits can be reserved; zero: not at all. A whole number of microseconds. */
    public Duration maxWait() {
        return maxWait;
    }

    /**
     * How many permits at the most an instance takes from the store beyond those of a call, in the same trip, to hand
     * them out in memory; 0: none.
     */
    public long lease() {
        return lease;
    }

    /** Whether it lets a call go on later instead of now. */
    public boolean mayDelay() {
        return !dryRun && (traits.spacesCalls() || !maxWait.isZero());
    }

    /** Whether the limit limits at all. */
    public boolean enabled() {
        return enabled;
    }

    /** Whether what it rejects is only counted. */
    public boolean dryRun() {
        return dryRun;
    }

    public OnStoreFailure onStoreFailure() {
        return onStoreFailure;
    }

    /** What this instance alone goes by while the store fails: its share of the limit, or the limit itself. */
    public RateLimit local() {
        return local;
    }

    /** Whether the two say the same, so that methods which declare both under one name share one limit. */
    public boolean agreesWith(RateLimit other) {
        return algorithm == other.algorithm
                && refill == other.refill
                && capacity == other.capacity
                && (refill == Refill.INTERVAL ? rate.equals(other.rate) : pace.equals(other.pace))
                && maxWait.equals(other.maxWait);
    }

    /** {@code TOKEN_BUCKET, capacity 20 at 10/s}. */
    @Override
    public String toString() {
        return algorithm + ", capacity " + capacity + " at " + rate
                + (refill == Refill.INTERVAL ? ", refill INTERVAL" : "")
                + (maxWait.isZero() ? "" : ", maxWait " + RateLimitBuilder.text(maxWait))
                + (lease == 0 ? "" : ", lease " + lease)
                + (dryRun ? ", dry run" : "")
                + (enabled ? "" : ", disabled");
    }
}
