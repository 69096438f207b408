package io.ratelimit.internal.change;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.internal.concurrent.BackgroundFailureLog;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.PeriodicTask;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.StoredOverride;
import io.ratelimit.internal.store.BucketUnchangedException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the stored overrides, about once a second, and at once if another instance says that they have changed, and applies those
 * that are in force. While they cannot be read, the last known ones apply until they end. No failure ends the reading, and a limit
 * that fails leaves the others alone.
 */
public final class OverrideSynchronizer implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** The name of the channel's topic. The message is the id of a limit. */
    public static final String TOPIC = "overrides";

    private static final long PAUSE_MILLIS = 850;

    /** Instances that were started together do not read together. */
    private static final long JITTER_MILLIS = 100;

    /** The longest that the start-up waits for the overrides. */
    private static final Duration START_UP = Duration.ofMillis(500);

    /** The longest time to wait for a reply, and for replies to earlier requests. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private final OverrideRepository repository;

    private final LongSupplier nanos;

    private final PeriodicTask reading;

    private final List<LimitCatalog> catalogs = new CopyOnWriteArrayList<>();

    private final OverrideEvents events = new OverrideEvents();

    private OverrideSnapshot known = new OverrideSnapshot(0, OverrideSnapshot.Result.UNCHANGED, 0, 0, Map.of());

    private long knownSince;

    /** Is complete when the last request is answered. */
    private final AtomicReference<CompletableFuture<Void>> last =
            new AtomicReference<>(CompletableFuture.completedFuture(null));

    /** A reading that is to be sent when the request before it is answered; {@code null}: there is none. */
    private final AtomicReference<@Nullable CompletableFuture<Void>> unsent = new AtomicReference<>();

    private final BackgroundFailureLog failures = new BackgroundFailureLog(
            "Overrides of rate limits cannot be read ({0}); applying the last known ones",
            "Overrides of rate limits can be read again");

    OverrideSynchronizer(
            OverrideRepository repository, ChangeChannel channel, LongSupplier nanos, ScheduledExecutorService thread) {
        this.repository = repository;
        this.nanos = nanos;
        this.reading = new PeriodicTask(thread, this::readAndWait, this::pauseMillis);
        channel.subscribe(TOPIC, new ChangeSubscriber());
    }

    /**
     * Creates a synchronizer.
     *
     * @param channel tells when other instances have changed overrides
     */
    public static OverrideSynchronizer of(OverrideRepository repository, ChangeChannel channel) {
        return new OverrideSynchronizer(
                repository, channel, System::nanoTime, DaemonThreads.createServiceScheduler("ratelimit-overrides"));
    }

    /** Creates a synchronizer of overrides of this instance alone. */
    public static OverrideSynchronizer ofThisInstance() {
        long start = System.currentTimeMillis() * 1_000 - System.nanoTime() / 1_000;
        return of(new InMemoryOverrideRepository(() -> start + System.nanoTime() / 1_000), ChangeChannel.NONE);
    }

    /**
     * Overrides these limits from now on. With the first ones it begins to read, and waits for a moment for the reply, so that
     * calls find the overrides.
     */
    public void add(LimitCatalog catalog) {
        catalogs.add(catalog);
        boolean begins = !reading.isRunning();
        if (begins) {
            reading.start();
        }
        CompletableFuture<Void> first = refresh();
        if (begins && repository.isShared()) {
            BoundedWait.await(first, START_UP);
        }
    }

    /** Leaves these limits as they are. Without any limits, it does not read. */
    public void remove(LimitCatalog catalog) {
        catalogs.remove(catalog);
        if (catalogs.isEmpty()) {
            reading.stop();
        }
    }

    /**
     * Adds a listener of all changes.
     *
     * @param owner the catalog of the context that adds it. It ends with its context
     */
    public void addListener(LimitCatalog owner, ChangeListener listener) {
        events.addListener(owner, listener);
    }

    @Override
    public void close() {
        reading.close();
    }

    /**
     * Changes the override of a limit or a plan, and applies what the store replies.
     *
     * @param id of what is changed
     * @param next {@code null}: removes it
     * @see OverrideRepository#write
     */
    CompletableFuture<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        long asked = nanos.getAsLong();
        Supplier<CompletionStage<OverrideSnapshot>> write = () -> {
            if (nanos.getAsLong() - asked > DEADLINE.toNanos()) {
                throw new BucketUnchangedException(
                        new RateLimitStoreException(Reason.TIMEOUT, "No answer in time to earlier changes", null));
            }
            return repository.write(id, next, principal, expectedVersion);
        };
        return request(write, id, principal);
    }

    /**
     * Sends a request when the one before it is answered. So replies come in the order in which they were made, by whatever clocks,
     * and the first one that shows a change of this instance is the reply to it.
     */
    private CompletableFuture<OverrideSnapshot> request(
            Supplier<CompletionStage<OverrideSnapshot>> request, @Nullable String changed, @Nullable String principal) {
        CompletableFuture<Void> answered = new CompletableFuture<>();
        return last.getAndSet(answered)
                .thenCompose(before -> Futures.start(request))
                .thenApply(reply -> {
                    // Otherwise another instance has changed what the reply shows.
                    boolean made = reply.result() == OverrideSnapshot.Result.CHANGED;
                    apply(reply, made ? changed : null, principal);
                    if (!repository.isShared()) {
                        reading.plan();
                    }
                    return reply;
                })
                .whenComplete((reply, thrown) -> answered.complete(null));
    }

    /** Until the next reading, or the end of the next override. Those of this instance alone are read when one of them ends. */
    private synchronized long pauseMillis() {
        long pause = repository.isShared()
                ? PAUSE_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS)
                : Long.MAX_VALUE;
        long now = now();
        for (StoredOverride override : known.overrides().values()) {
            if (override.endMicros() > now) {
                pause = Math.min(pause, (override.endMicros() - now) / 1_000 + 1);
            }
        }
        return pause;
    }

    private void readAndWait() {
        BoundedWait.await(refresh(), DEADLINE);
        applyAll(null, null, false);
    }

    /** Reads and applies the overrides, with one reading for all that wait to be sent. */
    CompletableFuture<Void> refresh() {
        CompletableFuture<Void> next = new CompletableFuture<>();
        CompletableFuture<Void> earlier = unsent.compareAndExchange(null, next);
        if (earlier != null) {
            return earlier;
        }
        Supplier<CompletionStage<OverrideSnapshot>> read = () -> {
            unsent.set(null);
            return repository.read();
        };
        var unused = request(read, null, null).whenComplete((reply, thrown) -> {
            if (thrown != null && reading.isRunning()) {
                failures.failed(Futures.unwrap(thrown));
            }
            next.complete(null);
        });
        return next;
    }

    private synchronized void apply(OverrideSnapshot snapshot, @Nullable String changed, @Nullable String principal) {
        failures.succeeded();
        known = snapshot;
        knownSince = nanos.getAsLong();
        applyAll(changed, principal, snapshot.ended() > 0);
    }

    private synchronized void applyAll(@Nullable String changed, @Nullable String principal, boolean endedHere) {
        OverrideEvents.Reading reading = new OverrideEvents.Reading(now(), changed, principal, endedHere);
        Map<String, Map<String, StoredOverride>> inForce = known.inForce(reading.nowMicros());
        List<EffectiveLimit> limits = catalogs.stream()
                .flatMap(catalog -> catalog.effective().stream())
                .toList();
        limits.forEach(limit -> limit.expect(inForce.getOrDefault(limit.get().id(), Map.of())));
        for (EffectiveLimit limit : limits) {
            try {
                LimitState before = limit.apply(inForce.getOrDefault(limit.get().id(), Map.of()));
                events.publish(before, limit.state(), reading);
            } catch (Throwable ex) {
                logger.log(
                        Level.DEBUG, "A change of rate limit '" + limit.name() + "' cannot be logged or published", ex);
            }
        }
    }

    /** Tells of limits whose configuration has changed, and of overrides that do not apply beside it. */
    public synchronized void reconfigured(List<EffectiveLimit> limits) {
        limits.forEach(limit -> events.publishReconfigured(limit.state()));
        applyAll(null, null, false);
    }

    void tell(RateLimitChangedEvent event) {
        events.tell(event);
    }

    /** Returns the time by the store's clock. */
    private long now() {
        return known.nowMicros() + (nanos.getAsLong() - knownSince) / 1_000;
    }

    /** Reads the overrides when another instance says so, on the threads of the channel and the repository. */
    private final class ChangeSubscriber implements ChangeChannel.Subscriber {

        @Override
        public void onMessage(String message) {
            onConnect();
        }

        @Override
        public void onConnect() {
            if (reading.isRunning()) {
                var unused = refresh();
            }
        }
    }
}
