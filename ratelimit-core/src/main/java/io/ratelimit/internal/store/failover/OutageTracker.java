package io.ratelimit.internal.store.failover;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.AlgorithmFailureException;
import io.ratelimit.spi.StoreFailure;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tracks the failures of a store. A failure of the whole store is over when it has decided again for a second and a check
 * succeeds. A failure of single buckets, or of an algorithm of the application, is over after a minute without one.
 */
final class OutageTracker {

    private static final System.Logger logger = System.getLogger("io.ratelimit.store");

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final Supplier<CompletionStage<?>> check;

    private final LongSupplier nanos;

    private final Outage ofStore;

    /** Of single buckets and of each algorithm of the application, by their last messages, from the first failure on. */
    private final Map<String, Outage> ofParts = new ConcurrentSkipListMap<>();

    private final String store;

    /** What the last check has found while no call failed; {@code null}: nothing. */
    private final AtomicReference<@Nullable StoreFailure> found = new AtomicReference<>();

    private final AtomicBoolean checking = new AtomicBoolean();

    /** {@code null}: there is only one server. */
    private final @Nullable String redis;

    /**
     * @param check whether the whole store can decide
     * @param events gets an event when the store fails and one when it has recovered
     * @param redis the name of the server; {@code null}: there is only one
     */
    OutageTracker(
            Supplier<CompletionStage<?>> check, LongSupplier nanos, Consumer<Object> events, @Nullable String redis) {
        this.store = redis == null ? "Rate limit store" : "Rate limit store '" + redis + "'";
        this.check = check;
        this.nanos = nanos;
        this.redis = redis;
        this.ofStore = new Outage(
                store + " unavailable", store + " available again", redis, Duration.ofSeconds(1), nanos, events);
    }

    /** A call is decided by {@code on-store-failure}. */
    void failureOfCall(List<RateLimit> limits, RateLimitStoreException failure) {
        failure(limits, failure, true);
    }

    /**
     * Something else than a call has failed, which does not count as one.
     *
     * @param limits those that it concerns; empty for a check during an outage
     */
    void otherFailure(List<RateLimit> limits, RateLimitStoreException failure) {
        failure(limits, failure, false);
    }

    private void failure(List<RateLimit> limits, RateLimitStoreException failure, boolean isCall) {
        RateLimitStoreException first = Outage.first(failure);
        Reason reason = first.getReason();
        if (reason == Reason.FOREIGN_VALUE) {
            ofPart(store + " holds a foreign value", store + " without a foreign value for a minute")
                    .failure(limits, failure, isCall, null);
        } else if (reason == Reason.ALGORITHM) {
            String algorithm = first instanceof AlgorithmFailureException known
                    ? "algorithm '" + known.algorithm() + "'"
                    : "an algorithm";
            ofPart("Rate limit algorithm failed", "Rate limits without a failure of " + algorithm + " for a minute")
                    .failure(limits, failure, isCall, null);
        } else if (isOfStore(reason)) {
            ofStore.failure(limits, failure, isCall, found.get());
        }
    }

    void success() {
        ofParts.forEach((message, outage) -> {
            if (outage.isOn()) {
                outage.overIfQuiet();
            }
        });
        if (ofStore.isOn() && ofStore.isQuiet()) {
            checkInBackground();
        }
    }

    private Outage ofPart(String bad, String good) {
        return ofParts.computeIfAbsent(good, first -> new Outage(bad, good, redis, MINUTE, nanos, event -> {}));
    }

    /** Returns whether the whole store can decide, as far as is known. Does not include failures of single buckets and limits. */
    boolean isAvailable() {
        return !ofStore.isOn() && found.get() == null;
    }

    /** Begins a check, unless one is under way. */
    void checkInBackground() {
        if (checking.compareAndSet(false, true)) {
            var unused = Futures.start(() -> check.get())
                    .whenComplete((well, thrown) -> checking.set(false))
                    .handle(this::checked);
        }
    }

    /** Takes the result of a check. A check alone is no outage: there is none until a call fails. The log tells of it. */
    @Nullable
    Void checked(@Nullable Object well, @Nullable Throwable thrown) {
        if (thrown == null || !(Futures.unwrap(thrown) instanceof RateLimitStoreException failure)) {
            if (found.getAndSet(null) != null && !ofStore.isOn()) {
                logger.log(Level.INFO, store + " answers checks again");
            }
            ofStore.overIfQuiet();
        } else if (ofStore.isOn() || !isOfStore(Outage.first(failure).getReason())) {
            otherFailure(List.of(), failure);
        } else {
            found(Outage.first(failure));
        }
        return null;
    }

    private void found(RateLimitStoreException failure) {
        StoreFailure first = Outage.describe(failure, redis);
        StoreFailure before = found.getAndUpdate(known -> known == null ? first : Outage.become(known, failure, 0));
        if (before == null) {
            logger.log(
                    Level.INFO,
                    "{0} does not answer checks ({1}: {2}); no call has failed so far",
                    store,
                    Outage.lowerCase(first.reason()),
                    first.message());
        }
    }

    private static boolean isOfStore(Reason reason) {
        return reason != Reason.FOREIGN_VALUE
                && reason != Reason.ALGORITHM
                && reason != Reason.CLOSED
                && reason != Reason.STALLED;
    }

    List<StoreFailure> failures() {
        return Stream.concat(
                        Stream.of(ofStore.failure(found.get())),
                        ofParts.values().stream().map(outage -> outage.failure(null)))
                .filter(Objects::nonNull)
                .toList();
    }
}
