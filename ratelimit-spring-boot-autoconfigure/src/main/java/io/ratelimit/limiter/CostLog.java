package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Logs at most once a minute that a call could not be settled at its actual cost. */
final class CostLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.costs");

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanos;

    private final AtomicLong nextUnknown;

    private final AtomicLong nextLoss;

    CostLog(LongSupplier nanos) {
        this.nanos = nanos;
        this.nextUnknown = new AtomicLong(nanos.getAsLong());
        this.nextLoss = new AtomicLong(nanos.getAsLong());
    }

    /** The message of the failure names the expression; its cause may contain arguments, so that only its type is logged. */
    void unknown(Charge charge, RuntimeException failure) {
        if (isDue(nextUnknown)) {
            Throwable cause = failure.getCause();
            logger.log(
                    Level.WARNING,
                    "Cost of a call to limit ''{0}'' unknown ({1}); the estimate stays charged; logged once a minute",
                    charge.limit().name(),
                    cause == null
                            ? failure.getMessage()
                            : failure.getMessage() + " with " + cause.getClass().getName());
        }
    }

    void notSettled(Charge charge, Throwable failure) {
        if (isDue(nextLoss)) {
            logger.log(
                    Level.WARNING,
                    "Cost of a call to limit ''{0}'' not charged ({1}); the estimate stays charged; logged once a minute",
                    charge.limit().name(),
                    failure instanceof RateLimitStoreException
                            ? failure.getMessage()
                            : failure.getClass().getName());
        }
    }

    private boolean isDue(AtomicLong next) {
        long now = nanos.getAsLong();
        long due = next.get();
        return now - due >= 0 && next.compareAndSet(due, now + MINUTE);
    }
}
