package io.ratelimit.spi;

import io.ratelimit.RateLimit;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Describes permits to take from one bucket. A charge is also the {@link StoreRequest} of most calls: for it alone, without a
 * refund.
 *
 * @param key identifies the bucket; {@code null}: the one bucket of all callers
 * @param permits the number of permits; 0 is free and always allowed
 */
public record Charge(RateLimit limit, @Nullable String key, long permits) implements StoreRequest {

    /** @throws IllegalArgumentException if the permits are negative */
    public Charge {
        if (permits < 0) {
            throw new IllegalArgumentException(
                    "Limit '" + limit.name() + "': permits must not be negative (was " + permits + ")");
        }
    }

    /**
     * Creates a charge to the bucket of one caller.
     *
     * @throws IllegalArgumentException if the key is null or empty or the permits are negative
     */
    public static Charge keyed(RateLimit limit, @Nullable String key, long permits) {
        if (key == null || key.isEmpty()) {
            throw new IllegalArgumentException("Limit '" + limit.name() + "': key must not be null or empty (was "
                    + (key == null ? "null" : "empty") + ")");
        }
        return new Charge(limit, key, permits);
    }

    /** Returns whether both charges take from the same bucket. */
    public boolean isForSameBucket(Charge other) {
        return Objects.equals(key, other.key) && limit.id().equals(other.limit.id());
    }

    @Override
    public List<Charge> charges() {
        return List.of(this);
    }

    @Override
    public boolean isSingle() {
        return true;
    }

    @Override
    public Charge first() {
        return this;
    }

    @Override
    public StoreRequest with(List<Charge> others) {
        return StoreRequest.of(others);
    }
}
