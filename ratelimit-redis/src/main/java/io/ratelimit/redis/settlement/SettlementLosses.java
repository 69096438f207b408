package io.ratelimit.redis.settlement;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.door.Scheduler;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;

/**
 * Counts settlements that Redis has not made, or may not have made. Logs their number at most once a minute: a second after the
 * first one, so that the line has the numbers of a short failure.
 */
final class SettlementLosses {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** A JVM that is stopped ends {@code java.util.logging} before the application, and its lines with it. */
    private static final LogAccessor shutdownLogger = new LogAccessor("io.ratelimit.redis");

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier nanos;

    private final Scheduler timer;

    private volatile Consumer<RateLimit> listener = limit -> {};

    /** How many were lost since this was logged. Guarded by this. */
    private long settlements;

    /** Guarded by this. */
    private long notCharged;

    /** Guarded by this. */
    private long notRefunded;

    /** Of the last one. Guarded by this. */
    private @Nullable String reason;

    /** When this may be logged again. Guarded by this. */
    private long nextLog;

    /** Guarded by this. */
    private boolean planned;

    SettlementLosses(LongSupplier nanos, Scheduler timer) {
        this.nanos = nanos;
        this.timer = timer;
        this.nextLog = nanos.getAsLong();
    }

    /** Calls the listener with the limit of each settlement that is lost. */
    void setListener(Consumer<RateLimit> listener) {
        this.listener = listener;
    }

    /** Counts a settlement that is lost. */
    void add(QueuedSettlement settlement, Throwable cause) {
        tell(settlement.charge().limit());
        synchronized (this) {
            settlements++;
            if (settlement.charges()) {
                notCharged += settlement.permits();
            } else {
                notRefunded += settlement.permits();
            }
            reason = reason(cause);
            if (!planned) {
                planned = true;
                plan(Math.max(SECOND, nextLog - nanos.getAsLong()));
            }
        }
    }

    private void tell(RateLimit limit) {
        try {
            listener.accept(limit);
        } catch (RuntimeException ex) {
            logger.log(Level.DEBUG, "The listener of lost settlements failed", ex);
        }
    }

    private void plan(long delay) {
        try {
            var unused = timer.schedule(this::log, delay);
        } catch (Throwable ex) {
            // No thread is available.
            log();
        }
    }

    private synchronized void log() {
        planned = false;
        nextLog = nanos.getAsLong() + MINUTE;
        if (settlements > 0) {
            logger.log(Level.WARNING, numbers());
        }
    }

    /** Logs what was not logged yet, because the application ends. */
    synchronized void logAtShutdown() {
        if (settlements > 0) {
            shutdownLogger.warn(numbers());
        }
    }

    private String numbers() {
        String numbers = "Settlements of calls lost (" + reason + "): " + settlements + "; permits not charged: "
                + notCharged + ", not refunded: " + notRefunded
                + "; Redis may have made some without a reply; logged once a minute";
        settlements = 0;
        notCharged = 0;
        notRefunded = 0;
        return numbers;
    }

    /** Other messages may contain arguments. */
    private static @Nullable String reason(Throwable cause) {
        return cause instanceof RateLimitStoreException
                ? cause.getMessage()
                : cause.getClass().getName();
    }
}
