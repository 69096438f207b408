package io.ratelimit;

import java.lang.System.Logger.Level;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Logs that the store fails and that it is back: once for each change, and once a minute while trouble lasts. It is back
 * when it has answered for a second without failing, so that a single bad bucket among good ones is not a change at every
 * call.
 */
final class FailureLog {

    private static final System.Logger logger = System.getLogger(FailoverRateLimitStore.class.getName());

    private static final long REMINDER = TimeUnit.MINUTES.toNanos(1);

    private static final long QUIET = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier nanos;

    private volatile boolean failing;

    private long failures;

    private long lastFailure;

    private long lastLine;

    private @Nullable Long lastLoss;

    FailureLog() {
        this(System::nanoTime);
    }

    FailureLog(LongSupplier nanos) {
        this.nanos = nanos;
    }

    synchronized void failure(RateLimit limit, RateLimitStoreException failure) {
        long now = nanos.getAsLong();
        lastFailure = now;
        failures++;
        if (!failing) {
            failing = true;
            lastLine = now;
            logger.log(
                    Level.WARNING,
                    "Limit ''{0}'' goes by on-store-failure={1}, because the store cannot decide: {2}",
                    limit.name(),
                    policy(limit),
                    failure.getMessage());
        } else if (now - lastLine >= REMINDER) {
            lastLine = now;
            logger.log(
                    Level.WARNING,
                    "Limit ''{0}'' still goes by on-store-failure={1}, as did {2} calls so far: {3}",
                    limit.name(),
                    policy(limit),
                    failures,
                    failure.getMessage());
        }
    }

    /** Not worth a line while it is known that the store fails, nor more than one a minute else. */
    synchronized void notGivenBack(RateLimit limit, RateLimitStoreException failure) {
        long now = nanos.getAsLong();
        if (!failing && (lastLoss == null || now - lastLoss >= REMINDER)) {
            lastLoss = now;
            logger.log(
                    Level.WARNING,
                    "What was to be given back to limit ''{0}'' stays taken, because the store cannot: {1}",
                    limit.name(),
                    failure.getMessage());
        }
    }

    void success() {
        if (failing) {
            recover();
        }
    }

    private synchronized void recover() {
        if (failing && nanos.getAsLong() - lastFailure >= QUIET) {
            failing = false;
            logger.log(
                    Level.INFO,
                    "The store decides rate limits again; calls that went by on-store-failure: {0}",
                    failures);
            failures = 0;
        }
    }

    private static String policy(RateLimit limit) {
        return limit.onStoreFailure().name().toLowerCase(Locale.ROOT);
    }
}
