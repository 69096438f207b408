package io.ratelimit;

import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Logs that the store fails and that it is back, not every call of it: at most one pair of lines a minute, even where
 * failures and successes alternate.
 */
final class FailureLog {

    private static final System.Logger logger = System.getLogger(FailoverRateLimitStore.class.getName());

    private static final long PAUSE = TimeUnit.MINUTES.toNanos(1);

    private enum State {
        FINE,
        FAILING
    }

    private final AtomicReference<State> state = new AtomicReference<>(State.FINE);

    private final AtomicLong silentUntil = new AtomicLong(System.nanoTime());

    private final AtomicLong failures = new AtomicLong();

    void failure(RateLimitStoreException failure) {
        failures.incrementAndGet();
        long now = System.nanoTime();
        long until = silentUntil.get();
        if (now - until >= 0 && silentUntil.compareAndSet(until, now + PAUSE)) {
            state.set(State.FAILING);
            logger.log(
                    Level.WARNING,
                    "Rate limits are decided by ratelimit.on-store-failure, because the store cannot: {0} (calls so far: {1})",
                    failure.getMessage(),
                    failures.get());
        }
    }

    void success() {
        if (state.get() == State.FAILING && state.compareAndSet(State.FAILING, State.FINE)) {
            logger.log(
                    Level.INFO,
                    "The store decides rate limits again; calls that went by ratelimit.on-store-failure: {0}",
                    failures.getAndSet(0));
        }
    }
}
