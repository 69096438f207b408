package io.ratelimit;

import static io.ratelimit.LimitAttributes.ALGORITHM;
import static io.ratelimit.LimitAttributes.BLOCK_FOR;
import static io.ratelimit.LimitAttributes.CAPACITY;
import static io.ratelimit.LimitAttributes.HOLD;
import static io.ratelimit.LimitAttributes.LEASE;
import static io.ratelimit.LimitAttributes.MAX_WAIT;
import static io.ratelimit.LimitAttributes.RATE;
import static io.ratelimit.LimitAttributes.REDIS;
import static io.ratelimit.LimitAttributes.REFILL;
import static io.ratelimit.LimitAttributes.SCOPE;
import static io.ratelimit.LimitAttributes.ZONE;

import io.ratelimit.Rate.CalendarUnit;
import io.ratelimit.internal.limit.AlgorithmTraits;
import io.ratelimit.internal.limit.AlgorithmTraits.Trait;
import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.CapacityRange;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.limit.LimitNames;
import io.ratelimit.internal.limit.LimitNumbers;
import io.ratelimit.internal.limit.ReducedRate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Checks the attributes of a limit, each alone and together. The message of a mistake has the name that was written, and the fix. */
final class LimitValidation {

    private final LimitDefinition limit;

    private final AttributeValues values;

    private final LimitAlgorithm algorithm;

    private final Duration maxWait;

    /** For how long rejections block the key; empty: not at all. */
    final List<Duration> blockDurations;

    private final AlgorithmTraits traits;

    /** {@code null}: permits come back when calls end. */
    final @Nullable Rate rate;

    /** The numbers that the attributes result in. */
    final LimitNumbers numbers;

    /** The lease of the limit; of a plan or an override with a small capacity as far as it goes. */
    final long lease;

    /** @throws RateLimitConfigurationException if an attribute is missing, out of range or contradicts another */
    LimitValidation(LimitDefinition limit) {
        this.limit = limit;
        this.values = limit.values();
        this.algorithm = values.effective(ALGORITHM);
        this.maxWait = values.effective(MAX_WAIT);
        List<Duration> blocks = values.effective(BLOCK_FOR);
        this.blockDurations = blocks.size() == 1 && blocks.get(0).isZero() ? List.of() : blocks;
        checkNames();
        checkAlone(values);
        AlgorithmTraits refilled = refilled();
        checkMaxWait(refilled);
        checkHold(refilled);
        checkRedis();
        this.rate = refilled.has(Trait.HOLDS_PERMITS) ? null : parsedRate();
        this.traits = rate == null || rate.calendarUnit() == null ? refilled : inCalendarUnits(refilled, rate);
        checkZone();
        this.numbers = rate == null ? concurrency() : numbers(rate);
        this.lease = rate == null ? 0 : lease(rate);
    }

    /** Checks defaults of all limits that no limit may need. */
    static void checkDefaults(AttributeValues defaults) {
        String rate = defaults.get(RATE);
        if (rate != null) {
            Rate.parse(defaults.label(RATE), rate);
        }
        checkAlone(defaults);
    }

    private static void checkAlone(AttributeValues values) {
        LimitAttributes.check(values, (attribute, rule, was, fix) -> {
            throw mistake(values.label(attribute), rule, was, fix);
        });
    }

    private RateLimitConfigurationException mistake(Attribute<?> attribute, String rule, Object was, String fix) {
        return mistake(values.label(attribute), rule, was, fix);
    }

    private static RateLimitConfigurationException mistake(String label, String rule, Object was, String fix) {
        String value = was instanceof Duration duration ? DurationText.of(duration) : was.toString();
        return new RateLimitConfigurationException(label + " must " + rule + " (was " + value + ").", fix);
    }

    private void checkNames() {
        String rule = "consist of letters, digits, '-' and '_'";
        if (!LimitNames.isValid(limit.name())) {
            throw mistake("name", rule, "\"" + limit.name() + "\"", "Rename the limit.");
        }
        if (limit.plan() != null && !LimitNames.isValid(limit.plan())) {
            throw mistake("the name of a plan", rule, "\"" + limit.plan() + "\"", "Rename the plan.");
        }
    }

    private AlgorithmTraits refilled() {
        AlgorithmTraits continuous = algorithm.traits();
        AlgorithmTraits refilled = values.effective(REFILL) == Refill.INTERVAL ? continuous.inIntervals() : continuous;
        if (refilled == null) {
            throw mistake(REFILL, "be CONTINUOUS for " + algorithm, "INTERVAL", "Remove it, or use TOKEN_BUCKET.");
        }
        return refilled;
    }

    private void checkMaxWait(AlgorithmTraits refilled) {
        if (!maxWait.isZero() && !refilled.has(Trait.REFILLS_EVENLY) && !refilled.has(Trait.HOLDS_PERMITS)) {
            throw mistake(
                    MAX_WAIT,
                    "be 0 for " + algorithm
                            + (values.effective(REFILL) == Refill.INTERVAL ? " with refill INTERVAL" : "")
                            + ", which cannot reserve permits",
                    maxWait,
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET.");
        }
    }

    private void checkHold(AlgorithmTraits refilled) {
        Duration hold = values.get(HOLD);
        if (hold != null && !refilled.has(Trait.HOLDS_PERMITS)) {
            throw mistake(HOLD, "not be set for " + algorithm, hold, "Remove it, or use CONCURRENCY.");
        }
    }

    private void checkRedis() {
        if (values.has(REDIS) && values.effective(SCOPE) == Scope.INSTANCE) {
            throw mistake(
                    REDIS,
                    "not be set for a limit with scope INSTANCE, which is counted in memory",
                    "\"" + values.get(REDIS) + "\"",
                    "Remove it, or use scope SHARED.");
        }
    }

    /** Only a zone that is set for this limit: those of all limits are for the ones with calendar windows. */
    private void checkZone() {
        String property = values.property(ZONE);
        if (property != null
                && !property.startsWith(LimitConfiguration.DEFAULTS + ".")
                && algorithm.traits().inCalendarUnits() == null) {
            throw mistake(
                    ZONE,
                    "not be set for " + algorithm + ", because only windows of FIXED_WINDOW are calendar units",
                    values.effective(ZONE),
                    "Remove it, or use FIXED_WINDOW with a rate such as \"10000/month\".");
        }
    }

    private Rate parsedRate() {
        String text = values.get(RATE);
        if (text == null || text.isBlank()) {
            throw new RateLimitConfigurationException("rate must be set.", limit.rateAdvice());
        }
        return Rate.parse(values.label(RATE), text);
    }

    private AlgorithmTraits inCalendarUnits(AlgorithmTraits refilled, Rate parsed) {
        AlgorithmTraits calendar = refilled.inCalendarUnits();
        if (calendar == null) {
            throw mistake(
                    RATE,
                    "have a duration as its period for " + algorithm
                            + ", because only windows of FIXED_WINDOW are calendar units",
                    parsed,
                    "Use FIXED_WINDOW, or a duration: \"" + new Rate(parsed.permits(), parsed.period()) + "\".");
        }
        return calendar;
    }

    /** Permits that calls hold have no rate: nothing is reserved, leased or blocked. */
    private LimitNumbers concurrency() {
        String ofCalls = values.get(RATE);
        if (ofCalls != null && !ofCalls.isBlank()) {
            throw mistake(
                    RATE, "not be set for CONCURRENCY", ofCalls, "Remove it, or declare a second limit with the rate.");
        }
        Long capacity = values.get(CAPACITY);
        if (capacity == null) {
            throw new RateLimitConfigurationException(
                    "capacity must be set for CONCURRENCY.", "Set it to the number of calls that may run at once.");
        }
        if (capacity < 1 || capacity > RateLimit.MAX_CAPACITY) {
            throw mistake(
                    CAPACITY, "be from 1 to " + RateLimit.MAX_CAPACITY + " for CONCURRENCY", capacity, "Change it.");
        }
        if (!blockDurations.isEmpty()) {
            throw mistake(
                    BLOCK_FOR,
                    "be 0 for CONCURRENCY, whose rejections end with a call",
                    blockDurations.get(0),
                    "Remove it, or declare a second limit with a rate.");
        }
        if (values.effective(LEASE) != 0) {
            throw mistake(
                    LEASE,
                    "be 0 for CONCURRENCY, whose permits come back when calls end",
                    values.effective(LEASE),
                    "Remove it.");
        }
        long holdMicros = TimeUnit.NANOSECONDS.toMicros(values.effective(HOLD).toNanos());
        return new LimitNumbers(traits, capacity, capacity, holdMicros, null, 0, null);
    }

    private LimitNumbers numbers(Rate parsed) {
        ReducedRate reduced = reduced(parsed);
        long capacity = capacity(parsed, reduced);
        CalendarUnit unit = parsed.calendarUnit();
        return new LimitNumbers(
                traits,
                capacity,
                parsed.permits(),
                parsed.periodMicros(),
                reduced,
                reduced.fullMicros(capacity),
                unit == null ? null : unit.windows(values.effective(ZONE)));
    }

    private ReducedRate reduced(Rate parsed) {
        try {
            ReducedRate reduced = ReducedRate.of(parsed.permits(), parsed.periodMicros());
            if (range(parsed, reduced, Duration.ZERO).most() < 1) {
                throw mistake(
                        RATE,
                        "be exact in integers below 2^53",
                        parsed,
                        "Use a rate between 1 a year and 10 million a second, in rounder numbers.");
            }
            if (range(parsed, reduced, maxWait).most() < 1) {
                throw mistake(
                        MAX_WAIT,
                        "be exact in integers below 2^53 at the rate " + parsed,
                        maxWait,
                        "Use a shorter one.");
            }
            return reduced;
        } catch (ArithmeticException ex) {
            throw new RateLimitConfigurationException(
                    values.label(RATE) + " must have a period of at most 142 years (was " + parsed + ").",
                    "Use a shorter period.",
                    ex);
        }
    }

    private CapacityRange range(Rate parsed, ReducedRate reduced, Duration ahead) {
        return traits.capacities(parsed.permits(), parsed.periodMicros(), reduced, ahead);
    }

    private long capacity(Rate parsed, ReducedRate reduced) {
        CapacityRange range = range(parsed, reduced, maxWait);
        Long capacity = values.get(CAPACITY);
        long wanted = capacity == null ? parsed.permits() : capacity;
        String was = wanted + (capacity == null ? ", the number in the rate" : "");
        String context = " for " + algorithm + " at the rate " + parsed;
        if (wanted < 1 || wanted > range.most()) {
            throw mistake(
                    CAPACITY,
                    "be from " + range.step() + " to " + range.most() + context,
                    was,
                    traits.capacityAdvice());
        }
        if (!range.contains(wanted)) {
            throw mistake(
                    CAPACITY,
                    "be a multiple of " + range.step() + context,
                    was,
                    "Otherwise the window is not a whole number of microseconds. Change it, or use another algorithm.");
        }
        if (parsed.calendarUnit() != null && wanted != parsed.permits()) {
            throw mistake(
                    CAPACITY,
                    "be the number in the rate " + parsed + ", because a window is one " + parsed.calendarUnit(),
                    was,
                    "Remove it, or change the rate.");
        }
        return wanted;
    }

    private long lease(Rate parsed) {
        long capacity = numbers.capacity();
        long wanted = values.effective(LEASE);
        boolean lowered = limit.plan() != null || isOverridden(CAPACITY) || isOverridden(RATE);
        long permits = lowered ? Math.min(wanted, capacity) : wanted;
        if (permits == 0) {
            return 0;
        }
        if (values.effective(SCOPE) == Scope.INSTANCE) {
            throw mistake(
                    LEASE,
                    "be 0 here, because a limit with scope INSTANCE is counted in memory",
                    permits,
                    "Remove it, or use scope SHARED.");
        }
        if (permits < 0 || permits > capacity) {
            throw mistake(LEASE, "be from 0 to the capacity " + capacity, permits, "Remove it, or use a smaller one.");
        }
        if (!blockDurations.isEmpty()) {
            throw mistake(
                    BLOCK_FOR,
                    "be 0 with " + values.label(LEASE)
                            + ", whose permits are handed out without asking whether the key is blocked",
                    blockDurations.get(0),
                    "Remove one of them, or set it to 0 for this limit.");
        }
        String obstacle = traits.obstacleToLeases(parsed.permits(), capacity);
        if (obstacle == null && !maxWait.isZero()) {
            obstacle = "permits that are reserved ahead, by maxWait, are in the order of the calls";
        }
        if (obstacle != null) {
            throw mistake(
                    LEASE,
                    "be 0 here, because " + obstacle,
                    permits,
                    "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS and no maxWait, FIXED_WINDOW or"
                            + " SLIDING_WINDOW.");
        }
        return permits;
    }

    private boolean isOverridden(Attribute<?> attribute) {
        return values.overrideEnd(attribute) != null;
    }
}
