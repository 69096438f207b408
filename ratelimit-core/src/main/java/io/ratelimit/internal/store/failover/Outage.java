package io.ratelimit.internal.store.failover;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.spi.StoreFailure;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Failures of one kind, from the first to the last. Logs both, and each further reason and policy once. It is over after a
 * while without a failure, so that a bad bucket among good ones is not a change at every call.
 */
final class Outage {

    private static final System.Logger logger = System.getLogger("io.ratelimit.store");

    private final String bad;

    private final String good;

    /** {@code null}: there is only one server. */
    private final @Nullable String redis;

    private final Duration quiet;

    private final LongSupplier nanos;

    private final Consumer<Object> events;

    /** {@code null} if there is no outage. */
    private volatile @Nullable State state;

    private volatile long lastFailure;

    /**
     * The present outage. Immutable but for the count, because every call during an outage reads it.
     *
     * @param first with what it began
     * @param latest the first failure of the reason that the last one had
     * @param logged the reasons and policies that have been
     * @param calls those of this outage, so that none is counted by the one before
     */
    private record State(
            StoreFailure first, long nanos, RateLimitStoreException latest, Set<Enum<?>> logged, LongAdder calls) {

        boolean knows(RateLimitStoreException failure, List<RateLimit> limits) {
            return latest.getReason() == failure.getReason() && hasLogged(failure, limits);
        }

        boolean hasLogged(RateLimitStoreException failure, List<RateLimit> limits) {
            for (RateLimit limit : limits) {
                if (!logged.contains(limit.onStoreFailure())) {
                    return false;
                }
            }
            return logged.contains(failure.getReason());
        }

        State with(RateLimitStoreException failure, List<RateLimit> limits) {
            Set<Enum<?>> more = new HashSet<>(logged);
            more.add(first.reason());
            more.add(failure.getReason());
            limits.forEach(limit -> more.add(limit.onStoreFailure()));
            return new State(first, nanos, failure, more, calls);
        }
    }

    /**
     * @param bad the message while the outage lasts
     * @param good the message when it is over
     * @param redis the name of the server; {@code null}: there is only one
     * @param quiet the time without a failure after which it is over
     * @param events gets an event when it begins and one when it is over
     */
    Outage(
            String bad,
            String good,
            @Nullable String redis,
            Duration quiet,
            LongSupplier nanos,
            Consumer<Object> events) {
        this.bad = bad;
        this.good = good;
        this.redis = redis;
        this.quiet = quiet;
        this.nanos = nanos;
        this.events = events;
    }

    /**
     * Describes the outage. Without one, that is what a check has found.
     *
     * @param found by a check; {@code null}: nothing
     */
    @Nullable
    StoreFailure failure(@Nullable StoreFailure found) {
        State known = state;
        return known == null ? found : become(known.first, known.latest, known.calls.sum());
    }

    boolean isOn() {
        return state != null;
    }

    /** Returns whether there was no failure for so long that it may be over. */
    boolean isQuiet() {
        return nanos.getAsLong() - lastFailure >= quiet.toNanos();
    }

    /**
     * @param limits those that it concerns; empty for a check during an outage
     * @param isCall whether it is a call that is decided by {@code on-store-failure} now
     * @param found by a check before; {@code null}: nothing
     */
    void failure(
            List<RateLimit> limits, RateLimitStoreException failure, boolean isCall, @Nullable StoreFailure found) {
        lastFailure = nanos.getAsLong();
        State known = state;
        RateLimitStoreException first = first(failure);
        if (known == null || !known.knows(first, limits)) {
            news(limits, first, isCall, found);
        } else if (isCall) {
            known.calls.increment();
        }
    }

    private synchronized void news(
            List<RateLimit> limits, RateLimitStoreException failure, boolean isCall, @Nullable StoreFailure found) {
        State before = state;
        StoreFailure began = found == null ? describe(failure, redis) : found;
        State known = before == null ? new State(began, lastFailure, failure, Set.of(), new LongAdder()) : before;
        state = known.with(failure, limits);
        if (isCall) {
            known.calls.increment();
        }
        if (before == null) {
            events.accept(new RateLimitStoreFailureEvent(began.reason(), began.message(), began.since(), redis));
        }
        if (!known.hasLogged(failure, limits)) {
            logger.log(
                    Level.WARNING,
                    "{0} ({1}{2}: {3}){4}",
                    bad,
                    before(failure.getReason(), known.first),
                    lowerCase(failure.getReason()),
                    failure.getMessage(),
                    consequence(limits));
        }
    }

    /** Names the reason of the outage, if a failure has another one. */
    private static String before(Reason reason, StoreFailure first) {
        return first.reason() == reason ? "" : lowerCase(first.reason()) + ": " + first.message() + "; now ";
    }

    private static String consequence(List<RateLimit> limits) {
        return switch (limits.size()) {
            case 0 -> "; found by a check";
            case 1 ->
                "; applying on-store-failure=" + policy(limits.get(0)) + " to limit '"
                        + limits.get(0).name() + "'";
            default ->
                limits.stream()
                        .map(limit -> "'" + limit.name() + "' (" + policy(limit) + ")")
                        .collect(Collectors.joining(", ", "; applying on-store-failure to limits ", ""));
        };
    }

    private static String policy(RateLimit limit) {
        return lowerCase(limit.onStoreFailure());
    }

    /** Describes a failure that begins now. */
    static StoreFailure describe(RateLimitStoreException failure, @Nullable String redis) {
        String message = String.valueOf(failure.getMessage());
        return new StoreFailure(failure.getReason(), message, Instant.now(), 0, null, redis);
    }

    /** Keeps the first reason, beside that of the latest failure if it is another one. */
    static StoreFailure become(StoreFailure first, RateLimitStoreException latest, long calls) {
        Reason reason = latest.getReason();
        return new StoreFailure(
                first.reason(),
                first.message(),
                first.since(),
                calls,
                reason == first.reason() ? null : new StoreFailure.Latest(reason, String.valueOf(latest.getMessage())),
                first.redis());
    }

    static String lowerCase(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    synchronized void overIfQuiet() {
        State known = state;
        if (known != null && isQuiet()) {
            state = null;
            long decided = known.calls.sum();
            logger.log(
                    Level.INFO,
                    "{0} (failures were seen for {1} s); calls decided by on-store-failure: {2}",
                    good,
                    String.format(Locale.ROOT, "%.1f", (lastFailure - known.nanos) / 1e9),
                    decided);
            events.accept(new RateLimitStoreRecoveredEvent(known.first.since(), decided, redis));
        }
    }

    /** Returns the failure that opened the circuit breaker, if that is why the store failed; otherwise the failure itself. */
    static RateLimitStoreException first(RateLimitStoreException failure) {
        return failure.getReason() == Reason.SHORT_CIRCUITED
                        && failure.getCause() instanceof RateLimitStoreException cause
                ? cause
                : failure;
    }
}
