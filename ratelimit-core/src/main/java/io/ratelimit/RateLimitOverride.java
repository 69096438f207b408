package io.ratelimit;

import io.ratelimit.internal.limit.Attribute;
import io.ratelimit.internal.limit.AttributeValues;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Holds the attributes that an operator sets for a limit while the application runs, in place of those of its declaration and of
 * the configuration. What is {@code null} stays as it is.
 *
 * <pre>{@code RateLimitOverride.builder().capacity(50).rate("20/s").duration(Duration.ofHours(1)).build()}</pre>
 */
public final class RateLimitOverride {

    private final AttributeValues values;

    private final @Nullable Duration duration;

    RateLimitOverride(AttributeValues values, @Nullable Duration duration) {
        this.values = values;
        this.duration = duration;
    }

    /** Creates a builder without any attribute. */
    public static Builder builder() {
        return new Builder();
    }

    AttributeValues values() {
        return values;
    }

    public @Nullable Long capacity() {
        return values.get(LimitAttributes.CAPACITY);
    }

    /**
     * Returns the rate, in the syntax of {@link Rate#parse}. If neither the override nor the limit has a capacity, it is the number
     * in the rate.
     */
    public @Nullable String rate() {
        return values.get(LimitAttributes.RATE);
    }

    public @Nullable Duration maxWait() {
        return values.get(LimitAttributes.MAX_WAIT);
    }

    /** Returns the durations as in {@link RateLimitBuilder#blockFor}; zero alone: never. */
    public @Nullable List<Duration> blockFor() {
        return values.get(LimitAttributes.BLOCK_FOR);
    }

    public @Nullable Boolean enabled() {
        return values.get(LimitAttributes.ENABLED);
    }

    public @Nullable Boolean dryRun() {
        return values.get(LimitAttributes.DRY_RUN);
    }

    public @Nullable OnStoreFailure onStoreFailure() {
        return values.get(LimitAttributes.ON_STORE_FAILURE);
    }

    /** Returns how long the override applies; {@code null}: until it is removed. */
    public @Nullable Duration duration() {
        return duration;
    }

    /** Returns whether no attribute is set. */
    public boolean isEmpty() {
        return values.isEmpty();
    }

    /** Returns the names of the attributes that are set, such as {@code maxWait}. */
    public List<String> names() {
        return set().stream().map(Attribute::name).toList();
    }

    private List<Attribute<?>> set() {
        return LimitAttributes.changeable().stream().filter(values::has).toList();
    }

    /** Describes the attributes that are set: {@code capacity 50, rate 20/s}. */
    @Override
    public String toString() {
        return set().stream()
                .map(attribute ->
                        attribute.name() + " " + attribute.format(Objects.requireNonNull(values.get(attribute))))
                .collect(Collectors.joining(", "));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RateLimitOverride override
                && values.equals(override.values)
                && Objects.equals(duration, override.duration);
    }

    @Override
    public int hashCode() {
        return Objects.hash(values, duration);
    }

    /**
     * Builds an override. {@code null}, the default, leaves an attribute as it is. The values are checked when the override is set: see
     * {@link RateLimitAdmin#override(String, RateLimitOverride, long)}.
     */
    public static final class Builder {

        private AttributeValues values = AttributeValues.NONE;

        private @Nullable Duration duration;

        private Builder() {}

        private <T> Builder set(Attribute<T> attribute, @Nullable T value) {
            values = values.with(attribute, value);
            return this;
        }

        public Builder capacity(@Nullable Long capacity) {
            return set(LimitAttributes.CAPACITY, capacity);
        }

        public Builder capacity(long capacity) {
            return capacity(Long.valueOf(capacity));
        }

        public Builder rate(@Nullable String rate) {
            return set(LimitAttributes.RATE, rate);
        }

        public Builder maxWait(@Nullable Duration maxWait) {
            return set(LimitAttributes.MAX_WAIT, maxWait);
        }

        /** Sets the durations as in {@link RateLimitBuilder#blockFor}; zero alone, or none: never. */
        public Builder blockFor(@Nullable List<Duration> blockFor) {
            // The stored text of an override needs a duration.
            List<Duration> never = List.of(Duration.ZERO);
            return set(LimitAttributes.BLOCK_FOR, blockFor != null && blockFor.isEmpty() ? never : blockFor);
        }

        public Builder enabled(@Nullable Boolean enabled) {
            return set(LimitAttributes.ENABLED, enabled);
        }

        public Builder dryRun(@Nullable Boolean dryRun) {
            return set(LimitAttributes.DRY_RUN, dryRun);
        }

        public Builder onStoreFailure(@Nullable OnStoreFailure onStoreFailure) {
            return set(LimitAttributes.ON_STORE_FAILURE, onStoreFailure);
        }

        /** Sets how long the override applies; {@code null}, the default: until it is removed. */
        public Builder duration(@Nullable Duration duration) {
            this.duration = duration;
            return this;
        }

        public RateLimitOverride build() {
            return new RateLimitOverride(values, duration);
        }
    }
}
