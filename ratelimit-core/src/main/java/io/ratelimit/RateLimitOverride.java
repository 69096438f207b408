package io.ratelimit;

import io.ratelimit.internal.limit.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Holds the attributes that an operator sets for a limit while the application runs, in place of those of its declaration and of
 * the configuration. What is {@code null} stays as it is.
 *
 * <pre>{@code RateLimitOverride.builder().capacity(50).rate("20/s").duration(Duration.ofHours(1)).build()}</pre>
 *
 * @param rate in the syntax of {@link Rate#parse}. If neither the override nor the limit has a capacity, it is the number in
 *     the rate.
 * @param blockFor as in {@link RateLimitBuilder#blockFor}; zero alone: never
 * @param duration how long the override applies; {@code null}: until it is removed
 */
public record RateLimitOverride(
        @Nullable Long capacity,
        @Nullable String rate,
        @Nullable Duration maxWait,
        @Nullable List<Duration> blockFor,
        @Nullable Boolean enabled,
        @Nullable Boolean dryRun,
        @Nullable OnStoreFailure onStoreFailure,
        @Nullable Duration duration) {

    public RateLimitOverride {
        blockFor = blockFor == null ? null : List.copyOf(blockFor);
    }

    /** Creates a builder without any attribute. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns whether no attribute is set. */
    public boolean isEmpty() {
        return attributes().isEmpty();
    }

    /** Describes the attributes that are set: {@code capacity 50, rate 20/s}. */
    @Override
    public String toString() {
        return String.join(", ", attributes());
    }

    /** Returns the names of the attributes that are set, such as {@code maxWait}. */
    public List<String> names() {
        return attributes().stream()
                .map(attribute -> attribute.substring(0, attribute.indexOf(' ')))
                .toList();
    }

    private List<String> attributes() {
        List<String> set = new ArrayList<>();
        add(set, "capacity", capacity);
        add(set, "rate", rate);
        add(set, "maxWait", maxWait == null ? null : DurationText.of(maxWait));
        add(
                set,
                "blockFor",
                blockFor == null
                        ? null
                        : blockFor.stream().map(DurationText::of).collect(Collectors.joining(" then ")));
        add(set, "enabled", enabled);
        add(set, "dryRun", dryRun);
        add(
                set,
                "onStoreFailure",
                onStoreFailure == null ? null : onStoreFailure.name().toLowerCase(Locale.ROOT));
        return set;
    }

    private static void add(List<String> set, String name, @Nullable Object value) {
        if (value != null) {
            set.add(name + " " + value);
        }
    }

    /** Builds an override. */
    public static final class Builder {

        private @Nullable Long capacity;

        private @Nullable String rate;

        private @Nullable Duration maxWait;

        private @Nullable List<Duration> blockFor;

        private @Nullable Boolean enabled;

        private @Nullable Boolean dryRun;

        private @Nullable OnStoreFailure onStoreFailure;

        private @Nullable Duration duration;

        private Builder() {}

        public Builder capacity(@Nullable Long capacity) {
            this.capacity = capacity;
            return this;
        }

        public Builder capacity(long capacity) {
            return capacity(Long.valueOf(capacity));
        }

        public Builder rate(@Nullable String rate) {
            this.rate = rate;
            return this;
        }

        public Builder maxWait(@Nullable Duration maxWait) {
            this.maxWait = maxWait;
            return this;
        }

        public Builder blockFor(@Nullable List<Duration> blockFor) {
            this.blockFor = blockFor;
            return this;
        }

        public Builder enabled(@Nullable Boolean enabled) {
            this.enabled = enabled;
            return this;
        }

        public Builder dryRun(@Nullable Boolean dryRun) {
            this.dryRun = dryRun;
            return this;
        }

        public Builder onStoreFailure(@Nullable OnStoreFailure onStoreFailure) {
            this.onStoreFailure = onStoreFailure;
            return this;
        }

        /** Sets how long the override applies; {@code null}, the default: until it is removed. */
        public Builder duration(@Nullable Duration duration) {
            this.duration = duration;
            return this;
        }

        public RateLimitOverride build() {
            return new RateLimitOverride(capacity, rate, maxWait, blockFor, enabled, dryRun, onStoreFailure, duration);
        }
    }
}
