package io.ratelimit;

import io.ratelimit.internal.limit.AlgorithmTraits;
import io.ratelimit.internal.limit.CapacityRange;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limit.LimitNumbers;
import io.ratelimit.internal.limit.RateSuggestion;
import io.ratelimit.internal.limit.ReducedRate;
import java.time.Duration;
import java.time.ZoneId;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Checks the attributes of a limit, each alone and together. The message of a mistake has the name that was written, and the fix. */
final class LimitValidation {

    private static final String DURATION_EXAMPLE = "Write it like \"500ms\".";

    private static final Duration LONGEST_BLOCK = Duration.ofDays(365);

    private static final int MOST_BLOCKS = 16;

    private static final Duration SHORTEST_HOLD = Duration.ofSeconds(1);

    private static final Duration LONGEST_HOLD = Duration.ofDays(1);

    private final RateLimitBuilder limit;

    private final LimitAttributes attributes;

    private AlgorithmTraits traits;

    private final @Nullable Rate rate;

    private final LimitNumbers numbers;

    private LimitValidation(RateLimitBuilder limit) {
        this.limit = limit;
        this.attributes = limit.attributes();
        this.traits = attributes.algorithm().traits();
        checkAttributes();
        this.rate = traits.holdsPermits() ? null : parsedRate();
        checkZone();
        this.numbers = rate == null ? concurrency() : numbers(rate);
    }

    /**
     * Validates a limit.
     *
     * @throws RateLimitConfigurationException if an attribute is missing, out of range or contradicts another
     */
    static LimitValidation of(RateLimitBuilder limit) {
        return new LimitValidation(limit);
    }

    /** Returns the rate; {@code null}: permits come back when calls end. */
    @Nullable
    Rate rate() {
        return rate;
    }

    /** Returns the numbers that the attributes result in. */
    LimitNumbers numbers() {
        return numbers;
    }

    private void checkAttributes() {
        if (!LimitNames.isValid(limit.name())) {
            throw new RateLimitConfigurationException(
                    "name must consist of letters, digits, '-' and '_' (was \"" + limit.name() + "\").",
                    "Rename the limit.");
        }
        String plan = limit.plan();
        if (plan != null && !LimitNames.isValid(plan)) {
            throw new RateLimitConfigurationException(
                    "the name of a plan must consist of letters, digits, '-' and '_' (was \"" + plan + "\").",
                    "Rename the plan.");
        }
        checkAlgorithm();
        checkBlockFor();
        checkHold();
        checkRedis();
    }

    private LimitNumbers numbers(Rate parsed) {
        ReducedRate reduced = reduced(parsed);
        long capacity = capacity(parsed, reduced);
        if (limit.plan() != null) {
            attributes.leaseAtMost(capacity);
        }
        checkLease(parsed, capacity);
        CalendarUnit unit = parsed.calendarUnit();
        return new LimitNumbers(
                traits,
                capacity,
                parsed.permits(),
                parsed.periodMicros(),
                reduced,
                reduced.fullMicros(capacity),
                unit == null ? null : unit.windows(attributes.zone()));
    }

    /** Permits that calls hold have no rate: nothing is reserved, leased or blocked. */
    private LimitNumbers concurrency() {
        String ofCalls = attributes.rate();
        if (ofCalls != null && !ofCalls.isBlank()) {
            throw new RateLimitConfigurationException(
                    attributes.label("rate") + " must not be set for CONCURRENCY (was " + ofCalls + ").",
                    "Remove it, or declare a second limit with the rate.");
        }
        Long capacity = attributes.capacity();
        if (capacity == null) {
            throw new RateLimitConfigurationException(
                    "capacity must be set for CONCURRENCY.", "Set it to the number of calls that may run at once.");
        }
        if (capacity < 1 || capacity > RateLimit.MAX_CAPACITY) {
            throw new RateLimitConfigurationException(
                    attributes.label("capacity") + " must be from 1 to " + RateLimit.MAX_CAPACITY
                            + " for CONCURRENCY (was " + capacity + ").",
                    "Change it.");
        }
        if (!attributes.blockDurations().isEmpty()) {
            throw new RateLimitConfigurationException(
                    attributes.label("blockFor") + " must be 0 for CONCURRENCY, whose rejections end with a call (was "
                            + DurationText.of(attributes.blockDurations().get(0)) + ").",
                    "Remove it, or declare a second limit with a rate.");
        }
        if (attributes.lease() != 0) {
            throw new RateLimitConfigurationException(
                    attributes.label("lease")
                            + " must be 0 for CONCURRENCY, whose permits come back when calls end (was "
                            + attributes.lease() + ").",
                    "Remove it.");
        }
        long holdMicros = TimeUnit.NANOSECONDS.toMicros(attributes.hold().toNanos());
        return new LimitNumbers(traits, capacity, capacity, holdMicros, null, 0, null);
    }

    private void checkHold() {
        Duration hold = attributes.ownHold();
        if (hold == null) {
            return;
        }
        if (!traits.holdsPermits()) {
            throw new RateLimitConfigurationException(
                    attributes.label("hold") + " must not be set for " + attributes.algorithm() + " (was "
                            + DurationText.of(hold) + ").",
                    "Remove it, or use CONCURRENCY.");
        }
        checkHold(attributes.label("hold"), hold);
    }

    /** @param label of the attribute in the message */
    static void checkHold(String label, Duration hold) {
        if (hold.compareTo(SHORTEST_HOLD) < 0 || hold.compareTo(LONGEST_HOLD) > 0) {
            throw new RateLimitConfigurationException(
                    label + " must be from " + DurationText.of(SHORTEST_HOLD) + " to " + DurationText.of(LONGEST_HOLD)
                            + " (was " + DurationText.of(hold) + ").",
                    "Use 30s, unless calls pause for longer.");
        }
    }

    /** Only a zone that is set for this limit: those of all limits are for the ones with calendar windows. */
    private void checkZone() {
        ZoneId zone = attributes.configuredZone();
        if (zone != null && attributes.algorithm().traits().inCalendarUnits() == null) {
            throw new RateLimitConfigurationException(
                    attributes.label("zone") + " must not be set for " + attributes.algorithm()
                            + ", because only windows of FIXED_WINDOW are calendar units (was " + zone + ").",
                    "Remove it, or use FIXED_WINDOW with a rate such as \"10000/month\".");
        }
    }

    private void checkRedis() {
        String redis = attributes.ownRedis();
        if (redis != null && attributes.scope() == Scope.INSTANCE) {
            throw new RateLimitConfigurationException(
                    attributes.label("redis")
                            + " must not be set for a limit with scope INSTANCE, which is counted in memory (was \""
                            + redis + "\").",
                    "Remove it, or use scope SHARED.");
        }
    }

    private void checkAlgorithm() {
        AlgorithmTraits refilled = attributes.refill() == Refill.INTERVAL ? traits.inIntervals() : traits;
        if (refilled == null) {
            throw new RateLimitConfigurationException(
                    attributes.label("refill") + " must be CONTINUOUS for " + attributes.algorithm()
                            + " (was INTERVAL).",
                    "Remove it, or use TOKEN_BUCKET.");
        }
        traits = refilled;
        String label = attributes.label("maxWait");
        if (attributes.maxWait().isNegative()) {
            throw new RateLimitConfigurationException(
                    label + " must not be negative (was " + DurationText.of(attributes.maxWait()) + ").",
                    DURATION_EXAMPLE);
        }
        if (attributes.maxWait().toNanosPart() % 1_000 != 0) {
            throw new RateLimitConfigurationException(
                    label + " must be a whole number of microseconds (was " + DurationText.of(attributes.maxWait())
                            + ").",
                    DURATION_EXAMPLE);
        }
        if (!attributes.maxWait().isZero() && !traits.reservesAhead() && !traits.holdsPermits()) {
            throw new RateLimitConfigurationException(
                    label + " must be 0 for " + attributes.algorithm()
                            + (attributes.refill() == Refill.INTERVAL ? " with refill INTERVAL" : "")
                            + ", which cannot reserve permits (was " + DurationText.of(attributes.maxWait()) + ").",
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET.");
        }
    }

    private void checkBlockFor() {
        String label = attributes.label("blockFor");
        if (attributes.blockDurations().size() > MOST_BLOCKS) {
            throw new RateLimitConfigurationException(
                    label + " must have at most " + MOST_BLOCKS + " durations (was "
                            + attributes.blockDurations().size() + ").",
                    "The last one repeats. Remove some.");
        }
        for (Duration duration : attributes.blockDurations()) {
            String was = " (was " + DurationText.of(duration) + ").";
            if (duration.isNegative() || duration.isZero()) {
                throw new RateLimitConfigurationException(
                        label + " must be positive" + was, "Use longer ones, or a single 0 to block nothing.");
            }
            if (duration.toNanosPart() % 1_000 != 0) {
                throw new RateLimitConfigurationException(
                        label + " must be a whole number of microseconds" + was, DURATION_EXAMPLE);
            }
            if (duration.compareTo(LONGEST_BLOCK) > 0) {
                throw new RateLimitConfigurationException(
                        label + " must be at most " + LONGEST_BLOCK.toDays() + "d" + was, "Use a shorter one.");
            }
        }
    }

    private Rate parsedRate() {
        String text = attributes.rate();
        if (text == null || text.isBlank()) {
            throw new RateLimitConfigurationException("rate must be set.", limit.rateAdvice());
        }
        Rate parsed = parse(attributes.label("rate"), text);
        if (parsed.calendarUnit() != null) {
            traits = inCalendarUnits(parsed);
        }
        return parsed;
    }

    static Rate parse(String label, String rate) {
        try {
            return Rate.parse(rate);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    label + String.valueOf(ex.getMessage()).substring("rate".length()) + ".",
                    RateSuggestion.of(rate)
                                    .map(suggestion -> "Did you mean \"" + suggestion + "\"? ")
                                    .orElse("")
                            + "Write it like " + Rate.EXAMPLES + ".",
                    ex);
        }
    }

    private AlgorithmTraits inCalendarUnits(Rate parsed) {
        AlgorithmTraits calendar = traits.inCalendarUnits();
        if (calendar == null) {
            throw new RateLimitConfigurationException(
                    attributes.label("rate") + " must have a duration as its period for " + attributes.algorithm()
                            + ", because only windows of FIXED_WINDOW are calendar units (was " + parsed + ").",
                    "Use FIXED_WINDOW, or a duration: \"" + new Rate(parsed.permits(), parsed.period()) + "\".");
        }
        return calendar;
    }

    private ReducedRate reduced(Rate parsed) {
        String label = attributes.label("rate");
        try {
            ReducedRate reduced = ReducedRate.of(parsed.permits(), parsed.periodMicros());
            if (range(parsed, reduced, Duration.ZERO).most() < 1) {
                throw new RateLimitConfigurationException(
                        label + " must be exact in integers below 2^53 (was " + parsed + ").",
                        "Use a rate between 1 a year and 10 million a second, in rounder numbers.");
            }
            if (range(parsed, reduced, attributes.maxWait()).most() < 1) {
                throw new RateLimitConfigurationException(
                        attributes.label("maxWait")
                                + " must be exact in integers below 2^53 at the rate " + parsed + " (was "
                                + DurationText.of(attributes.maxWait()) + ").",
                        "Use a shorter one.");
            }
            return reduced;
        } catch (ArithmeticException ex) {
            throw new RateLimitConfigurationException(
                    label + " must have a period of at most 142 years (was " + parsed + ").",
                    "Use a shorter period.",
                    ex);
        }
    }

    private CapacityRange range(Rate parsed, ReducedRate reduced, Duration maxWait) {
        return traits.capacities(parsed.permits(), parsed.periodMicros(), reduced, maxWait);
    }

    private long capacity(Rate parsed, ReducedRate reduced) {
        CapacityRange range = range(parsed, reduced, attributes.maxWait());
        Long capacity = attributes.capacity();
        long wanted = capacity == null ? parsed.permits() : capacity;
        String label = attributes.label("capacity");
        String was = " (was " + wanted + (capacity == null ? ", the number in the rate" : "") + ")";
        String context = " for " + attributes.algorithm() + " at the rate " + parsed;
        if (wanted < 1 || wanted > range.most()) {
            throw new RateLimitConfigurationException(
                    label + " must be from " + range.step() + " to " + range.most() + context + was + ".",
                    traits.capacityAdvice());
        }
        if (!range.contains(wanted)) {
            throw new RateLimitConfigurationException(
                    label + " must be a multiple of " + range.step() + context + was + ".",
                    "Otherwise the window is not a whole number of microseconds. Change it, or use another algorithm.");
        }
        if (parsed.calendarUnit() != null && wanted != parsed.permits()) {
            throw new RateLimitConfigurationException(
                    label + " must be the number in the rate " + parsed + ", because a window is one "
                            + parsed.calendarUnit() + was + ".",
                    "Remove it, or change the rate.");
        }
        return wanted;
    }

    private void checkLease(Rate parsed, long validCapacity) {
        if (attributes.lease() == 0) {
            return;
        }
        String label = attributes.label("lease");
        if (attributes.scope() == Scope.INSTANCE) {
            throw new RateLimitConfigurationException(
                    label + " must be 0 here, because a limit with scope INSTANCE is counted in memory (was "
                            + attributes.lease() + ").",
                    "Remove it, or use scope SHARED.");
        }
        if (attributes.lease() < 0 || attributes.lease() > validCapacity) {
            throw new RateLimitConfigurationException(
                    label + " must be from 0 to the capacity " + validCapacity + " (was " + attributes.lease() + ").",
                    "Remove it, or use a smaller one.");
        }
        if (!attributes.blockDurations().isEmpty()) {
            throw new RateLimitConfigurationException(
                    attributes.label("blockFor") + " must be 0 with " + label
                            + ", whose permits are handed out without asking whether the key is blocked (was "
                            + DurationText.of(attributes.blockDurations().get(0)) + ").",
                    "Remove one of them, or set it to 0 for this limit.");
        }
        String obstacle = traits.obstacleToLeases(parsed.permits(), validCapacity);
        if (obstacle == null && !attributes.maxWait().isZero()) {
            obstacle = "permits that are reserved ahead, by maxWait, are in the order of the calls";
        }
        if (obstacle != null) {
            throw new RateLimitConfigurationException(
                    label + " must be 0 here, because " + obstacle + " (was " + attributes.lease() + ").",
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS and no maxWait, FIXED_WINDOW or"
                            + " SLIDING_WINDOW.");
        }
    }
}
