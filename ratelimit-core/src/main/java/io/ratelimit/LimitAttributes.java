package io.ratelimit;

import io.ratelimit.RateLimitStatus.Origin;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limit.DurationText;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The table of the attributes of a limit. Declarations, properties, plans and overrides are values of these rows; merging them,
 * their origins, and the stored and the logged form of overrides follow from the table.
 */
@Internal
public final class LimitAttributes {

    private static final String DURATION_EXAMPLE = "Write it like \"500ms\".";

    private static final Duration LONGEST_WAIT = Duration.of(1L << 53, ChronoUnit.MICROS);

    private static final Duration LONGEST_BLOCK = Duration.ofDays(365);

    private static final int MOST_BLOCKS = 16;

    private static final Duration SHORTEST_HOLD = Duration.ofSeconds(1);

    private static final Duration LONGEST_HOLD = Duration.ofDays(1);

    private static final List<Attribute<?>> ROWS = new ArrayList<>();

    // Of the limit. Whether others are inherited depends on the first ones.

    public static final Attribute<LimitAlgorithm> ALGORITHM =
            row(Attribute.<LimitAlgorithm>of("algorithm").otherwise(LimitAlgorithm.DEFAULT));

    public static final Attribute<Scope> SCOPE =
            row(Attribute.choice("scope", Scope.class).otherwise(Scope.SHARED));

    public static final Attribute<Refill> REFILL =
            row(Attribute.choice("refill", Refill.class).otherwise(Refill.CONTINUOUS));

    public static final Attribute<Long> CAPACITY =
            row(Attribute.number("capacity").changeable());

    public static final Attribute<String> RATE =
            row(Attribute.text("rate").changeable().inheritedIf(LimitAttributes::hasRate));

    public static final Attribute<Duration> MAX_WAIT = row(Attribute.duration("maxWait")
            .changeable()
            .otherwise(Duration.ZERO)
            .must("not be negative", wait -> wait.isNegative() ? wait : null, DURATION_EXAMPLE)
            .must("be a whole number of microseconds", wait -> inMicros(wait) ? null : wait, DURATION_EXAMPLE)
            .must(
                    "be exact in integers below 2^53",
                    wait -> wait.compareTo(LONGEST_WAIT) >= 0 ? wait : null,
                    "Use a shorter one."));

    public static final Attribute<List<Duration>> BLOCK_FOR = row(Attribute.durations("blockFor")
            .changeable()
            .otherwise(List.of())
            .must(
                    "have at most " + MOST_BLOCKS + " durations",
                    blocks -> blocks.size() > MOST_BLOCKS ? blocks.size() : null,
                    "The last one repeats. Remove some.")
            .must(
                    "be positive",
                    blocks -> first(blocks, block -> block.isNegative() || (block.isZero() && blocks.size() > 1)),
                    "Use longer ones, or a single 0 to block nothing.")
            .must(
                    "be a whole number of microseconds",
                    blocks -> first(blocks, block -> !inMicros(block)),
                    DURATION_EXAMPLE)
            .must(
                    "be at most " + LONGEST_BLOCK.toDays() + "d",
                    blocks -> first(blocks, block -> block.compareTo(LONGEST_BLOCK) > 0),
                    "Use a shorter one."));

    public static final Attribute<Boolean> ENABLED =
            row(Attribute.flag("enabled").changeable().otherwise(true));

    public static final Attribute<Boolean> DRY_RUN =
            row(Attribute.flag("dryRun").changeable().otherwise(false));

    public static final Attribute<OnStoreFailure> ON_STORE_FAILURE =
            row(Attribute.choice("onStoreFailure", OnStoreFailure.class)
                    .changeable()
                    .otherwise(OnStoreFailure.LOCAL));

    public static final Attribute<Long> LEASE = row(Attribute.number("lease").otherwise(0L));

    public static final Attribute<ZoneId> ZONE =
            row(Attribute.<ZoneId>of("zone").otherwise(ZoneOffset.UTC));

    public static final Attribute<Duration> HOLD = row(Attribute.duration("hold")
            .otherwise(Duration.ofSeconds(30))
            .inheritedIf(values -> !hasRate(values))
            .must(
                    "be from " + DurationText.of(SHORTEST_HOLD) + " to " + DurationText.of(LONGEST_HOLD),
                    hold -> hold.compareTo(SHORTEST_HOLD) < 0 || hold.compareTo(LONGEST_HOLD) > 0 ? hold : null,
                    "Use 30s, unless calls pause for longer."));

    public static final Attribute<String> REDIS =
            row(Attribute.text("redis").inheritedIf(values -> values.effective(SCOPE) != Scope.INSTANCE));

    private static final List<Attribute<?>> OF_LIMIT = List.copyOf(ROWS);

    // Of its calls.

    public static final Attribute<String> KEY_EXPRESSION = row(Attribute.text("keyExpression"));

    public static final Attribute<String> KEY_RESOLVER = row(Attribute.text("keyResolver"));

    public static final Attribute<String> PERMITS = row(Attribute.text("permits"));

    public static final Attribute<String> PERMITS_AFTER = row(Attribute.text("permitsAfter"));

    public static final Attribute<String> CONDITION = row(Attribute.text("condition"));

    public static final Attribute<List<Class<? extends Throwable>>> REFUND_ON = row(Attribute.of("refundOn"));

    public static final Attribute<String> POINTCUT = row(Attribute.text("pointcut"));

    public static final Attribute<String> PLAN_EXPRESSION = row(Attribute.text("planExpression"));

    public static final Attribute<String> PLAN_RESOLVER = row(Attribute.text("planResolver"));

    private LimitAttributes() {}

    private static <T> Attribute<T> row(Attribute<T> attribute) {
        ROWS.add(attribute);
        return attribute;
    }

    private static boolean inMicros(Duration duration) {
        return duration.toNanosPart() % 1_000 == 0;
    }

    private static @Nullable Duration first(List<Duration> durations, Predicate<Duration> which) {
        return durations.stream().filter(which).findFirst().orElse(null);
    }

    /** Passes on the rules that the values break, each value alone. */
    static void check(AttributeValues values, Attribute.Mistakes mistakes) {
        ROWS.forEach(row -> values.check(row, mistakes));
    }

    /** Returns the attributes that an override can set. */
    public static List<Attribute<?>> changeable() {
        return ROWS.stream().filter(Attribute::isChangeable).toList();
    }

    /**
     * Reads attributes.
     *
     * @param prefix of the properties; {@code null}: the application's code sets them
     * @param property returns the value of the attribute with a name; {@code null}: not set
     */
    public static AttributeValues read(@Nullable String prefix, Properties property) {
        AttributeValues values = AttributeValues.NONE;
        for (Attribute<?> row : ROWS) {
            values = values.with(row, property.value(row.name()), prefix);
        }
        return values;
    }

    /** The values of attributes by their names. */
    @FunctionalInterface
    public interface Properties {

        /** Returns the value of an attribute; {@code null}: not set. */
        @Nullable
        Object value(String attribute);
    }

    /** Returns the attributes that an override sets. */
    public static AttributeValues of(RateLimitOverride override) {
        return override.values();
    }

    /** Returns an override that sets these attributes. */
    public static RateLimitOverride override(AttributeValues values, @Nullable Duration duration) {
        return new RateLimitOverride(values, duration);
    }

    /** Returns a plan that sets these attributes. */
    public static RateLimitPlan plan(String name, AttributeValues values) {
        return new RateLimitPlan(name, values);
    }

    /** Returns what applies to a limit: its properties win over its declaration, and that over the defaults of all limits. */
    static AttributeValues merge(AttributeValues declared, AttributeValues properties, AttributeValues defaults) {
        AttributeValues merged = declared.overriddenBy(properties);
        for (Attribute<?> row : OF_LIMIT) {
            merged = merged.inherit(row, defaults);
        }
        return merged;
    }

    /** Returns whether the attributes of a limit are the same. Its expressions are read at the start-up alone. */
    static boolean areSame(AttributeValues some, AttributeValues others) {
        return OF_LIMIT.stream().allMatch(row -> Objects.equals(some.get(row), others.get(row)));
    }

    static boolean hasRate(AttributeValues values) {
        return !values.effective(ALGORITHM).is(Algorithm.CONCURRENCY);
    }

    /** Returns where each attribute of a limit comes from, by name. */
    static Map<String, Origin> origins(AttributeValues values) {
        Map<String, Origin> origins = new HashMap<>();
        OF_LIMIT.forEach(row -> origins.put(row.name(), origin(values, row)));
        if (!values.has(CAPACITY)) {
            origins.put(CAPACITY.name(), origin(values, RATE));
        }
        return Map.copyOf(origins);
    }

    private static Origin origin(AttributeValues values, Attribute<?> row) {
        String property = values.property(row);
        String end = values.overrideEnd(row);
        if (end != null) {
            return new Origin(Source.OVERRIDE, end);
        }
        return property != null
                ? new Origin(Source.CONFIGURATION, property)
                : new Origin(values.has(row) ? Source.DECLARATION : Source.DEFAULT, "");
    }
}
