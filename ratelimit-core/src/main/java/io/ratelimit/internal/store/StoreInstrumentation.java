package io.ratelimit.internal.store;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitStore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Measures stores. Without Micrometer there is no bean of this type. */
public interface StoreInstrumentation {

    StoreInstrumentation NONE = new StoreInstrumentation() {};

    /**
     * Returns a store that measures decisions.
     *
     * @param redis the name of the server, if limits are in several; {@code null}: there is only one
     */
    default RateLimitStore timed(RateLimitStore store, String name, @Nullable String redis) {
        return store;
    }

    /** Gets the number of buckets in memory. */
    default void buckets(IntSupplier count) {}

    /** Returns what is to be called when a bucket in use is evicted. */
    default Runnable evictions() {
        return () -> {};
    }

    /** Returns what is to be called when a call is rejected without the store. */
    default Runnable cachedRejections() {
        return () -> {};
    }

    /** Returns what is to be called with a number of permits that running calls have lost. */
    default LongConsumer lostPermits() {
        return permits -> {};
    }

    /** Returns what is to be called with the limit of a settlement that Redis has not made, or may not have. */
    default Consumer<RateLimit> lostSettlements() {
        return limit -> {};
    }

    /** Gets whether instances share their limits at the moment. */
    default void state(BooleanSupplier shared) {}

    /** Gets whether one of several servers decides at the moment. */
    default void state(String redis, BooleanSupplier available) {}
}
