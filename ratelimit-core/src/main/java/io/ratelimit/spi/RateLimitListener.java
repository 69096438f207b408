package io.ratelimit.spi;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;

/**
 * Receives every decision and every refusal. Exceptions of a listener are logged and never change a decision. It is called before the
 * call goes on, on the thread of the call, or on one of the store if the call does not block. So it must return at once.
 */
public interface RateLimitListener {

    /** The effect of a decision on the call. */
    enum Outcome {
        ALLOWED,
        REJECTED,

        /** Rejected by a limit in {@linkplain RateLimit#dryRun() dry run}, and so allowed. */
        DRY_RUN_REJECTED
    }

    /** Called once for each limit: when the application has started, or when a limit is declared later. */
    default void onLimit(RateLimit limit) {}

    /** Called for each decision about a call. */
    void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome);

    /**
     * Called for each limit that refuses a call, because the store cannot decide and {@code on-store-failure} is
     * {@link OnStoreFailure#REJECT} or {@link OnStoreFailure#THROW}. There is no decision then.
     */
    default void onRefusal(Charge charge, RateLimitStoreException failure) {}
}
