package io.ratelimit.change;

import io.ratelimit.BucketStatus;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.RateLimitChangedEvent.Kind;
import io.ratelimit.store.BucketChange;
import io.ratelimit.store.KeyDigest;
import io.ratelimit.store.RateLimitStore;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Changes single buckets of the store, tells the other instances of it, and makes this one forget what others have changed. The
 * message has the digest of the key.
 */
public final class BucketChanges {

    /** The name of the channel's topic. The message is the id of a limit and the digest of a key. */
    static final String TOPIC = "buckets";

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final RateLimitStore store;

    private final ChangeChannel channel;

    private final Consumer<RateLimitChangedEvent> listeners;

    private final Clock clock;

    private final List<BiConsumer<String, String>> bucketListeners = new CopyOnWriteArrayList<>();

    public BucketChanges(RateLimitStore store, ChangeChannel channel, OverrideSynchronizer listeners) {
        this(store, channel, listeners::tell, Clock.systemUTC());
    }

    BucketChanges(RateLimitStore store, ChangeChannel channel, Consumer<RateLimitChangedEvent> listeners, Clock clock) {
        this.store = store;
        this.channel = channel;
        this.listeners = listeners;
        this.clock = clock;
        channel.subscribe(TOPIC, this::forget);
    }

    private void forget(String message) {
        String[] words = message.split(" ", 2);
        if (words.length == 2) {
            store.forget(words[0], words[1]);
            tellBucketListeners(words[0], words[1]);
        }
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
        if (!limit.hasRate() && !change.equals(BucketChange.NONE)) {
            throw new IllegalArgumentException("Limit '" + limit.name()
                    + "': a bucket must be changed by a reset alone if the algorithm is CONCURRENCY (was "
                    + change.kind() + ")");
        }
        CompletionStage<BucketStatus> changed = store.changeAsync(limit, key, change);
        return change.equals(BucketChange.NONE)
                ? changed
                : changed.whenComplete((status, thrown) -> {
                    tellInstances(limit, key);
                    if (thrown == null) {
                        tellListeners(event(limit, change, status, principal));
                    }
                });
    }

    CompletionStage<Void> reset(RateLimit limit, @Nullable String key, @Nullable String principal) {
        return store.resetAsync(limit, key).whenComplete((done, thrown) -> {
            tellInstances(limit, key);
            if (thrown == null) {
                tellListeners(new RateLimitChangedEvent(limit.name(), Kind.RESET, "", null, principal, true));
            }
        });
    }

    /** Even if the change has failed: it may have been made. */
    private void tellInstances(RateLimit limit, @Nullable String key) {
        String digest = KeyDigest.of(key == null ? "" : key);
        channel.send(TOPIC, limit.id() + " " + digest);
        tellBucketListeners(limit.id(), digest);
    }

    private void tellListeners(RateLimitChangedEvent event) {
        logger.log(Level.INFO, describe(event));
        listeners.accept(event);
    }

    private RateLimitChangedEvent event(
            RateLimit limit, BucketChange change, BucketStatus status, @Nullable String principal) {
        Instant until = status.isBlocked() ? clock.instant().plus(status.blockedFor()) : null;
        return switch (change.kind()) {
            case GRANT ->
                new RateLimitChangedEvent(
                        limit.name(), Kind.GRANTED, change.amount() + " permits", null, principal, true);
            case BLOCK -> new RateLimitChangedEvent(limit.name(), Kind.BLOCKED, "", until, principal, true);
            case UNBLOCK -> new RateLimitChangedEvent(limit.name(), Kind.UNBLOCKED, "", null, principal, true);
            case NONE -> throw new IllegalArgumentException("Nothing has changed");
        };
    }

    private static String describe(RateLimitChangedEvent event) {
        String done = switch (event.kind()) {
            case GRANTED -> event.change() + " granted to a bucket";
            case BLOCKED -> "a bucket is blocked until " + event.until();
            case UNBLOCKED -> "a bucket is unblocked";
            default -> "a bucket is reset";
        };
        return "Rate limit '" + event.limitName() + "': " + done
                + (event.principal() == null ? "" : " by " + event.principal());
    }
}
