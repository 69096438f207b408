package io.ratelimit;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Collects what is said about a limit and checks it as a whole. Every setter may be left out but {@link #rate}.
 */
public final class RateLimitBuilder {

    private static final String EXAMPLE_OF_A_DURATION = "Write it like \"500ms\".";

    private final String name;

    private LimitOverrides overrides;

    /** Whether the configuration has had its say; until then nothing but the declaration can be at fault. */
    private boolean configured;

    Algorithm algorithm = Algorithm.TOKEN_BUCKET;

    Refill refill = Refill.CONTINUOUS;

    boolean enabled = true;

    boolean dryRun;

    OnStoreFailure onStoreFailure = OnStoreFailure.LOCAL;

    private long capacity;

    private @Nullable String rate;

    Duration maxWait = Duration.ZERO;

    long lease;

    private LocalShare share = LocalShare.WHOLE;

    RateLimitBuilder(String name) {
        this.name = name;
        this.overrides = LimitOverrides.none(name);
    }

    /** Default: {@link Algorithm#TOKEN_BUCKET}. */
    public RateLimitBuilder algorithm(Algorithm algorithm) {
        this.algorithm = algorithm;
        return this;
    }

    /** Default: {@link Refill#CONTINUOUS}. */
    public RateLimitBuilder refill(Refill refill) {
        this.refill = refill;
        return this;
    }

    /**
     * The most permits that can be taken at once, {@value RateLimit#MAX_CAPACITY} at the most; 0, the default: the number
     * in the rate.
     */
    public RateLimitBuilder capacity(long capacity) {
        this.capacity = capacity;
        return this;
    }

    /** In the syntax of {@link Rate#parse}. */
    public RateLimitBuilder rate(String rate) {
        this.rate = rate;
        return this;
    }

    /** How far ahead, beyond what a full bucket holds, permits are reserved; zero, the default: not at all. */
    public RateLimitBuilder maxWait(Duration maxWait) {
        this.maxWait = maxWait;
        return this;
    }

    /**
     * How many permits at the most an instance takes from the store beyond those of a call, in the same trip, to hand
     * them out in memory; 0, the default: none. Nothing to a store that takes no trip.
     */
    public RateLimitBuilder lease(long lease) {
        this.lease = lease;
        return this;
    }

    /** Lets the configuration win over what has been said so far. */
    public RateLimitBuilder apply(RateLimitSettings settings) {
        LimitOverrides said = settings.overrides(name);
        overrides = said;
        configured = true;
        algorithm = said.algorithm() != null ? said.algorithm() : algorithm;
        refill = said.refill() != null ? said.refill() : refill;
        capacity = said.capacity() != null ? said.capacity() : capacity;
        rate = said.rate() != null ? said.rate() : rate;
        maxWait = said.maxWait() != null ? said.maxWait() : maxWait;
        lease = said.lease() != null ? said.lease() : lease;
        enabled = said.enabled() == null || said.enabled();
        dryRun = said.dryRun() != null ? said.dryRun() : settings.dryRun();
        onStoreFailure = said.onStoreFailure() != null ? said.onStoreFailure() : settings.onStoreFailure();
        share = settings.localShare();
        return this;
    }

    /** What the declaration itself says, without the configuration. */
    RateLimitBuilder copy() {
        RateLimitBuilder copy = new RateLimitBuilder(name);
        copy.algorithm = algorithm;
        copy.refill = refill;
        copy.capacity = capacity;
        copy.rate = rate;
        copy.maxWait = maxWait;
        copy.lease = lease;
        return copy;
    }

    /**
     * Checks what has been said.
     *
     * @throws RateLimitConfigurationException if the numbers are missing, contradict each other or are out of range
     */
    public RateLimit build() {
        try {
            return checked();
        } catch (RateLimitConfigurationException ex) {
            throw configured ? ex : ex.at("RateLimit.named(\"" + name + "\")");
        }
    }

    private RateLimit checked() {
        if (!LimitNames.isValid(name)) {
            throw new RateLimitConfigurationException(
                    "name must consist of letters, digits, '-' and '_' (was \"" + name + "\").", "Rename the limit.");
        }
        checkAlgorithm();
        Rate parsed = parsedRate();
        ReducedRate pace = pace(parsed);
        long checked = checkedCapacity(parsed, pace);
        checkLease(parsed, checked);
        RateLimit whole = new RateLimit(this, name, checked, parsed, pace, null);
        RateLimit local = share.of(whole);
        return local.equals(whole) ? whole : new RateLimit(this, name, checked, parsed, pace, local);
    }

    private void checkAlgorithm() {
        if (!traits().allows(refill)) {
            throw invalid(
                    label("refill", overrides.refill()) + " must be CONTINUOUS for " + algorithm + " (was INTERVAL).",
                    "Remove it, or use TOKEN_BUCKET.");
        }
        String label = label("maxWait", overrides.maxWait());
        if (maxWait.isNegative()) {
            throw invalid(label + " must not be negative (was " + text(maxWait) + ").", EXAMPLE_OF_A_DURATION);
        }
        if (maxWait.toNanosPart() % 1_000 != 0) {
            throw invalid(
                    label + " must be a whole number of microseconds (was " + text(maxWait) + ").",
                    EXAMPLE_OF_A_DURATION);
        }
        if (!maxWait.isZero() && !traits().reservesAhead()) {
            throw invalid(
                    label + " must be 0 for " + algorithm
                            + (refill == Refill.INTERVAL ? " with refill INTERVAL" : "")
                            + ", which cannot reserve permits (was " + text(maxWait) + ").",
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET.");
        }
    }

    /** As it could be written in a configuration: {@code 1m30s}. */
    static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }

    private AlgorithmTraits traits() {
        return AlgorithmTraits.of(algorithm, refill);
    }

    private Rate parsedRate() {
        if (rate == null || rate.isBlank()) {
            throw invalid(
                    "rate must be set.",
                    configured
                            ? "Give the declaration a rate such as \"10/s\", or set " + overrides.property()
                                    + ".rate in the configuration."
                            : "Call rate(\"10/s\"). The configuration can still override it.");
        }
        try {
            return Rate.parse(rate);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    inConfiguration(overrides.rate()) + ex.getMessage() + ".",
                    RateSuggestion.of(rate)
                                    .map(suggestion -> "Did you mean \"" + suggestion + "\"? ")
                                    .orElse("")
                            + "Write it like " + Rate.EXAMPLES + ".",
                    ex);
        }
    }

    private ReducedRate pace(Rate parsed) {
        String label = label("rate", overrides.rate());
        try {
            ReducedRate pace = ReducedRate.of(parsed);
            if (traits().capacities(parsed, pace, Duration.ZERO).most() < 1) {
                throw invalid(
                        label + " must be exact in integers below 2^53 (was " + parsed + ").",
                        "Use a rate between 1 a year and 10 million a second, in rounder numbers.");
            }
            if (range(parsed, pace).most() < 1) {
                throw invalid(
                        label("maxWait", overrides.maxWait()) + " must be exact in integers below 2^53 at the rate "
                                + parsed + " (was " + text(maxWait) + ").",
                        "Use a shorter one.");
            }
            return pace;
        } catch (ArithmeticException ex) {
            throw new RateLimitConfigurationException(
                    label + " must have a period of at most 142 years (was " + parsed + ").",
                    "Use a shorter period.",
                    ex);
        }
    }

    private CapacityRange range(Rate parsed, ReducedRate pace) {
        return traits().capacities(parsed, pace, maxWait);
    }

    private long checkedCapacity(Rate parsed, ReducedRate pace) {
        CapacityRange range = range(parsed, pace);
        boolean ofRate = capacity == 0 && overrides.capacity() == null;
        long wanted = ofRate ? parsed.permits() : capacity;
        String label = label("capacity", overrides.capacity());
        String was = " (was " + wanted + (ofRate ? ", the number in the rate" : "") + ")";
        String context = " for " + algorithm + " at the rate " + parsed;
        if (wanted < 1 || wanted > range.most()) {
            throw invalid(
                    label + " must be from " + range.step() + " to " + range.most() + context + was + ".",
                    traits().capacityAdvice());
        }
        if (!range.contains(wanted)) {
            throw invalid(
                    label + " must be a multiple of " + range.step() + context + was + ".",
                    "Otherwise the window is not a whole number of microseconds. Change it, or use another algorithm.");
        }
        return wanted;
    }

    private void checkLease(Rate parsed, long checkedCapacity) {
        if (lease == 0) {
            return;
        }
        String label = label("lease", overrides.lease());
        if (lease < 0 || lease > checkedCapacity) {
            throw invalid(
                    label + " must be from 0 to the capacity " + checkedCapacity + " (was " + lease + ").",
                    "Remove it, or use a smaller one.");
        }
        String obstacle = obstacleToLeases(parsed, checkedCapacity);
        if (obstacle != null) {
            throw invalid(
                    label + " must be 0 here, because " + obstacle + " (was " + lease + ").",
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS and no maxWait, FIXED_WINDOW or"
                            + " SLIDING_WINDOW.");
        }
    }

    /** Why what is handed out later than it was taken would not be within the limit, if that is so. */
    private @Nullable String obstacleToLeases(Rate parsed, long checkedCapacity) {
        String obstacle = traits().obstacleToLeases(parsed, checkedCapacity);
        return obstacle == null && !maxWait.isZero()
                ? "permits that are reserved ahead, by maxWait, are in the order of the calls"
                : obstacle;
    }

    /** Names the attribute as its place spells it: the declaration, or the configuration. */
    private String label(String attribute, @Nullable Object override) {
        return override == null ? attribute : inConfiguration(override) + LimitNames.kebabCase(attribute);
    }

    /** What a property begins with, if the configuration sets it. */
    private String inConfiguration(@Nullable Object override) {
        return override == null ? "" : overrides.property() + ".";
    }

    private static RateLimitConfigurationException invalid(String problem, String fix) {
        return new RateLimitConfigurationException(problem, fix);
    }
}
