package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Logs at most once a minute that a call could not be settled: its cost is unknown, or the store has failed. */
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

    /** Only the message of an expression is logged: it names the expression. Others may contain arguments or results. */
    void unknown(Charge charge, Throwable failure) {
        if (isDue(nextUnknown)) {
            String problem = failure instanceof RateLimitExpressionException
                    ? failure.getMessage()
                    : failure.getClass().getName();
            Throwable cause = failure.getCause();
            logger.log(
                    Level.WARNING,
                    "Cost of a call to limit ''{0}'' unknown ({1}); the estimate stays charged; logged once a minute",
                    charge.limit().name(),
                    cause == null
                            ? problem
                            : problem + " with " + cause.getClass().getName());
        }
    }

    void notSettled(Charge charge, Throwable failure) {
        if (isDue(nextLoss)) {
            logger.log(
                    Level.WARNING,
                    "Charge of a call to limit ''{0}'' not settled ({1}); it stays as it was; logged once a minute",
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
