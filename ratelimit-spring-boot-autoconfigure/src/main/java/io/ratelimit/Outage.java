package io.ratelimit;

import io.ratelimit.RateLimitStoreException.Reason;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Trouble of one kind: when it begins, when it is over. Logs both, and every reason that comes up in between once. It is
 * over when there was none for a while, so that a bad bucket among good ones is not a change at every call.
 */
final class Outage {

    private static final System.Logger logger = System.getLogger(FailoverRateLimitStore.class.getName());

    private final String what;

    private final Duration quiet;

    private final LongSupplier nanos;

    private final LongAdder calls = new LongAdder();

    /** {@code null}: there is none. */
    private volatile @Nullable Begin begin;

    private volatile long lastFailure;

    /** @param logged the reasons that have been; not changed, because every call of an outage reads it */
    private record Begin(Reason reason, String message, Instant time, long nanos, Set<Reason> logged) {

        Begin logging(Reason next) {
            EnumSet<Reason> more = EnumSet.of(next);
            more.addAll(logged);
            return new Begin(reason, message, time, nanos, more);
        }
    }

    /**
     * @param what does not work
     * @param quiet after which time without a failure it is over
     */
    Outage(String what, Duration quiet, LongSupplier nanos) {
        this.what = what;
        this.quiet = quiet;
        this.nanos = nanos;
    }

    @Nullable
    StoreTrouble trouble() {
        Begin known = begin;
        return known == null ? null : new StoreTrouble(known.reason, known.message, known.time, calls.sum());
    }

    boolean isOn() {
        return begin != null;
    }

    /** Whether it may be over. */
    boolean isQuiet() {
        return nanos.getAsLong() - lastFailure >= quiet.toNanos();
    }

    /** @param limit whose call it was; {@code null}: nobody's */
    void failure(@Nullable RateLimit limit, RateLimitStoreException failure) {
        lastFailure = nanos.getAsLong();
        if (limit != null) {
            calls.increment();
        }
        Begin known = begin;
        RateLimitStoreException first = first(failure);
        if (known == null || !known.logged.contains(first.getReason())) {
            news(limit, first);
        }
    }

    private synchronized void news(@Nullable RateLimit limit, RateLimitStoreException failure) {
        Reason reason = failure.getReason();
        Begin known = begin;
        if (known != null && known.logged.contains(reason)) {
            return;
        }
        String message = String.valueOf(failure.getMessage());
        begin = (known == null ? new Begin(reason, message, Instant.now(), lastFailure, Set.of()) : known)
                .logging(reason);
        logger.log(Level.WARNING, "{0}, because {1}: {2}", consequence(limit), what, message);
    }

    private static String consequence(@Nullable RateLimit limit) {
        return limit == null
                ? "Rate limits go by on-store-failure"
                : "Limit '" + limit.name() + "' goes by on-store-failure="
                        + limit.onStoreFailure().name().toLowerCase(Locale.ROOT);
    }

    synchronized void overIfQuiet() {
        Begin known = begin;
        if (known != null && isQuiet()) {
            begin = null;
            logger.log(
                    Level.INFO,
                    "It is over that {0}, after {1} s; calls that went by on-store-failure: {2}",
                    what,
                    Duration.ofNanos(nanos.getAsLong() - known.nanos).toSeconds(),
                    calls.sumThenReset());
        }
    }

    /** What made the store stop asking, where it does not ask. */
    private static RateLimitStoreException first(RateLimitStoreException failure) {
        return failure.getReason() == Reason.SHORT_CIRCUITED
                        && failure.getCause() instanceof RateLimitStoreException cause
                ? cause
                : failure;
    }
}
