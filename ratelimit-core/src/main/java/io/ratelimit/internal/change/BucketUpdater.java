package io.ratelimit.internal.change;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitChangedEvent.Kind;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.DurationText;
import io.ratelimit.internal.store.BucketUnchangedException;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Changes single buckets of the store, tells the other instances of it, and makes this one forget what others have changed. The
 * message has the digest of the key.
 */
public final class BucketUpdater {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final RateLimitStore store;

    private final BucketMessages messages;

    private final Consumer<RateLimitChangedEvent> listeners;

    private final Clock clock;

    private final List<BiConsumer<String, String>> bucketListeners = new CopyOnWriteArrayList<>();

    public BucketUpdater(RateLimitStore store, ChangeChannel channel, OverrideSynchronizer synchronizer) {
        this(store, channel, synchronizer::tell, Clock.systemUTC());
    }

    BucketUpdater(RateLimitStore store, ChangeChannel channel, Consumer<RateLimitChangedEvent> listeners, Clock clock) {
        this.store = store;
        this.messages = new BucketMessages(channel, BucketMessages.CHANGED);
        this.listeners = listeners;
        this.clock = clock;
        messages.subscribe((limit, keyDigest) -> {
            store.forget(limit, keyDigest);
            tellBucketListeners(limit, keyDigest);
        });
    }

    /**
     * Adds a listener that is called after a bucket was changed, by this instance or another.
     *
     * @param listener receives the id of the limit and the {@link KeyDigest} of the key
     */
    public void addListener(BiConsumer<String, String> listener) {
        bucketListeners.add(listener);
    }

    private void tellBucketListeners(String limit, String keyDigest) {
        bucketListeners.forEach(listener -> listener.accept(limit, keyDigest));
    }

    CompletionStage<BucketStatus> change(
            RateLimit limit, @Nullable String key, BucketChange change, @Nullable String principal) {
        boolean changes = !change.equals(BucketChange.NONE);
        if (changes && !limit.hasRate() && !change.equals(BucketChange.RESET)) {
            throw new IllegalArgumentException("Limit '" + limit.name()
                    + "': a bucket must be changed by a reset alone if the algorithm is CONCURRENCY (was "
                    + change.kind() + ")");
        }
        CompletionStage<BucketStatus> changed = store.change(limit, key, change);
        return !changes
                ? changed
                : changed.handle((status, thrown) -> {
                    tellInstances(limit, key);
                    if (thrown != null) {
                        throw failure(limit, attempt(change), principal, thrown);
                    }
                    RateLimitChangedEvent made = event(limit, change, status, principal);
                    logger.log(Level.INFO, OverrideEvents.describe(made));
                    listeners.accept(made);
                    return status;
                });
    }

    /** Logs and publishes a change whose answer was lost, because nothing else tells if the store makes it later. */
    private CompletionException failure(RateLimit limit, String change, @Nullable String principal, Throwable thrown) {
        if (!(Futures.unwrap(thrown) instanceof RateLimitStoreException failure) || !mayBeMade(failure)) {
            return Futures.wrap(thrown);
        }
        logger.log(
                Level.WARNING,
                "Rate limit '" + limit.name() + "': no answer to a change of a bucket"
                        + OverrideEvents.by(principal) + ": " + change
                        + " (" + failure.getMessage()
                        + "); Redis may still make it. When Redis answers, look at the key:"
                        + " GET /actuator/ratelimits/" + limit.name()
                        + "?key=…, or inspect() of RateLimitAdmin.Bucket");
        listeners.accept(new RateLimitChangedEvent(limit.name(), Kind.UNCONFIRMED, change, null, principal, true));
        return new CompletionException(unconfirmed(failure));
    }

    /** Returns whether the answer was lost. A change that was not sent is a {@link BucketUnchangedException}. */
    static boolean mayBeMade(RateLimitStoreException failure) {
        return !(failure instanceof BucketUnchangedException)
                && switch (failure.getReason()) {
                    case TIMEOUT, UNREACHABLE -> true;
                    case CLOSED -> failure.getCause() instanceof RateLimitStoreException cause && mayBeMade(cause);
                    default -> false;
                };
    }

    /** Returns the failure with what its caller has to know of a change whose answer was lost. */
    static RateLimitStoreException unconfirmed(RateLimitStoreException failure) {
        return new RateLimitStoreException(
                failure.getReason(),
                failure.getMessage()
                        + ". The answer was lost, and Redis may still make the change. When Redis answers, look"
                        + " at the key: GET of the endpoint with the same key, or inspect() of RateLimitAdmin.Bucket.",
                failure);
    }

    private String attempt(BucketChange change) {
        return switch (change.kind()) {
            case GRANT -> "grant of " + permits(change);
            case BLOCK -> {
                Duration time = Duration.of(change.amount(), ChronoUnit.MICROS);
                yield "block for " + DurationText.of(time) + ", until "
                        + clock.instant().plus(time) + " or later";
            }
            case UNBLOCK -> "unblock";
            case RESET -> "reset";
            case NONE -> throw new IllegalArgumentException("Nothing is to be changed");
        };
    }

    private static String permits(BucketChange grant) {
        return grant.amount() + (grant.amount() == 1 ? " permit" : " permits");
    }

    /** Even if the change has failed: it may have been made. */
    private void tellInstances(RateLimit limit, @Nullable String key) {
        tellBucketListeners(limit.id(), messages.send(limit, key));
    }

    private RateLimitChangedEvent event(
            RateLimit limit, BucketChange change, BucketStatus status, @Nullable String principal) {
        Instant until = status.isBlocked() ? clock.instant().plus(status.blockedFor()) : null;
        return switch (change.kind()) {
            case GRANT -> new RateLimitChangedEvent(limit.name(), Kind.GRANTED, permits(change), null, principal, true);
            case BLOCK -> new RateLimitChangedEvent(limit.name(), Kind.BLOCKED, "", until, principal, true);
            case UNBLOCK -> new RateLimitChangedEvent(limit.name(), Kind.UNBLOCKED, "", null, principal, true);
            case RESET -> new RateLimitChangedEvent(limit.name(), Kind.RESET, "", null, principal, true);
            case NONE -> throw new IllegalArgumentException("Nothing has changed");
        };
    }
}
