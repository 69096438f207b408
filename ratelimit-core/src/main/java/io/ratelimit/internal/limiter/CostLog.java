package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.OnceAMinute;
import io.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;

/** Logs at most once a minute that a call could not be settled: its cost is unknown, or the store has failed. */
record CostLog(OnceAMinute lines) {

    private static final System.Logger logger = System.getLogger("io.ratelimit.costs");

    /** Only the message of an expression is logged: it names the expression. Others may contain arguments or results. */
    void unknown(Charge charge, Throwable failure) {
        if (lines.isDue("unknown")) {
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
        if (lines.isDue("not settled")) {
            logger.log(
                    Level.WARNING,
                    "Charge of a call to limit ''{0}'' not settled ({1}); it stays as it was; logged once a minute",
                    charge.limit().name(),
                    failure instanceof RateLimitStoreException
                            ? failure.getMessage()
                            : failure.getClass().getName());
        }
    }
}
