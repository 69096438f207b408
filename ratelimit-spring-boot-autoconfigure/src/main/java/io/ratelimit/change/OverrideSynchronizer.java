package io.ratelimit.change;

import io.ratelimit.RateLimitChangedEvent;
import io.ratelimit.RateLimitStatus.ActiveOverride;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.limiter.EffectiveLimit;
import io.ratelimit.limiter.LimitCatalog;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the stored overrides, about once a second, and at once if another instance says that they have changed.
 * {@link AppliedOverrides} applies them. While they cannot be read, the last known ones apply until they end. No failure ends
 * the reading.
 */
public final class OverrideSynchronizer implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** The name of the channel's topic. The message is the id of a limit. */
    static final String TOPIC = "overrides";

    private static final long PAUSE_MILLIS = 850;

    /** Instances that were started together do not read together. */
    private static final long JITTER_MILLIS = 100;

    /** The longest that the start-up waits for the overrides. */
    private static final Duration START_UP = Duration.ofMillis(500);

    /** The longest time to wait for a reply. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    /** A reply that is older than the last one by more is no late one: the store's clock was set back. */
    private static final long LATE_MICROS = 5_000_000;

    private final OverrideRepository repository;

    private final LongSupplier nanos;

    private final ScheduledExecutorService thread;

    private final List<LimitCatalog> catalogs = new CopyOnWriteArrayList<>();

    private final AppliedOverrides applied = new AppliedOverrides();

    private OverrideSnapshot known = new OverrideSnapshot(0, OverrideSnapshot.Result.UNCHANGED, 0, 0, Map.of());

    private long knownSince;

    private boolean failing;

    private Future<?> next = CompletableFuture.completedFuture(null);

    private volatile boolean running;

    OverrideSynchronizer(OverrideRepository repository, LongSupplier nanos, ScheduledExecutorService thread) {
        this.repository = repository;
        this.nanos = nanos;
        this.thread = thread;
    }

    /**
     * Creates a synchronizer of the overrides that all instances share.
     *
     * @param script {@code overrides.lua}
     */
    public static OverrideSynchronizer shared(ChangeScript script, ChangeChannel channel) {
        OverrideSynchronizer synchronizer = of(new ScriptedOverrideRepository(script));
        channel.subscribe(TOPIC, synchronizer.new Told());
        return synchronizer;
    }

    /** Creates a synchronizer of overrides of this instance alone. */
    public static OverrideSynchronizer ofThisInstance() {
        return of(new InMemoryOverrideRepository(() -> System.currentTimeMillis() * 1_000));
    }

    private static OverrideSynchronizer of(OverrideRepository repository) {
        return new OverrideSynchronizer(
                repository, System::nanoTime, DaemonThreads.createServiceScheduler("ratelimit-overrides"));
    }

    /**
     * Overrides these limits from now on. With the first ones it begins to read, and waits for a moment for the reply, so that
     * calls find the overrides.
     */
    public void add(LimitCatalog catalog) {
        catalogs.add(catalog);
        if (running) {
            readSoon();
        } else {
            start();
        }
    }

    /** Leaves these limits as they are. Without any limits, it does not read. */
    public void remove(LimitCatalog catalog) {
        catalogs.remove(catalog);
        running &= !catalogs.isEmpty();
    }

    public void addListener(ChangeListener listener) {
        applied.addListener(listener);
    }

    private void start() {
        running = true;
        CompletableFuture<Void> first = refresh();
        if (repository.isShared()) {
            BoundedWait.await(first, START_UP);
        }
        readLater();
    }

    @Override
    public void close() {
        running = false;
        thread.shutdownNow();
    }

    OverrideRepository repository() {
        return repository;
    }

    /** Reads on the thread of this class, soon. */
    private void readSoon() {
        try {
            thread.execute(this::readOnce);
        } catch (RejectedExecutionException ex) {
            // Closed.
        }
    }

    /** Reads at the next time, which is one and no more. Overrides of this instance alone are read when one of them ends. */
    private synchronized void readLater() {
        long pause = pauseMillis();
        next.cancel(false);
        if (running && pause < Long.MAX_VALUE) {
            try {
                next = thread.schedule(this::round, pause, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException ex) {
                // Closed.
            }
        }
    }

    /** Until the next reading, or the end of the next override. */
    private long pauseMillis() {
        long pause = repository.isShared()
                ? PAUSE_MILLIS + ThreadLocalRandom.current().nextLong(JITTER_MILLIS)
                : Long.MAX_VALUE;
        long now = now();
        for (StoredOverride override : known.overrides().values()) {
            if (override.endMicros() != 0) {
                pause = Math.min(pause, Math.max(1, (override.endMicros() - now) / 1_000 + 1));
            }
        }
        return pause;
    }

    private void round() {
        try {
            readOnce();
        } finally {
            readLater();
        }
    }

    private void readOnce() {
        try {
            if (running) {
                BoundedWait.await(refresh(), DEADLINE);
                applyAll();
            }
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "Applying overrides of rate limits failed; trying again", ex);
        }
    }

    /** Reads and applies the overrides. */
    private CompletableFuture<Void> refresh() {
        return Futures.start(repository::read).handle((snapshot, thrown) -> {
            if (thrown == null) {
                apply(snapshot, null, null);
            } else {
                failed(Futures.unwrap(thrown));
            }
            return null;
        });
    }

    private synchronized void failed(Throwable failure) {
        boolean ofStore = failure instanceof RateLimitStoreException known && isOutage(known.getReason());
        if (!failing && !ofStore && running) {
            failing = true;
            logger.log(
                    Level.WARNING,
                    "Overrides of rate limits cannot be read (" + failure.getMessage()
                            + "); applying the last known ones");
        }
    }

    /** Whether calls report the failure, too. */
    private static boolean isOutage(Reason reason) {
        return reason != Reason.FORBIDDEN && reason != Reason.FOREIGN_VALUE && reason != Reason.ERROR;
    }

    /**
     * Applies overrides that the store has just replied, unless a later reply was applied already.
     *
     * @param changed the id of the limit that this instance has changed; {@code null}: none
     * @param principal the author of that change, if known
     */
    synchronized void apply(OverrideSnapshot snapshot, @Nullable String changed, @Nullable String principal) {
        if (failing) {
            failing = false;
            logger.log(Level.INFO, "Overrides of rate limits can be read again");
        }
        long late = known.nowMicros() - snapshot.nowMicros();
        if (late > 0 && late < LATE_MICROS) {
            return;
        }
        known = snapshot;
        knownSince = nanos.getAsLong();
        applyAll(changed, principal, snapshot.ended() > 0);
        if (!repository.isShared()) {
            readLater();
        }
    }

    private synchronized void applyAll() {
        applyAll(null, null, false);
    }

    private void applyAll(@Nullable String changed, @Nullable String principal, boolean endedHere) {
        applied.applyAll(limits(), known.overrides(), now(), changed, principal, endedHere);
    }

    /** Applies the overrides of limits again, whose configuration has changed, and tells of the change. */
    public synchronized void reconfigured(List<EffectiveLimit> limits) {
        applied.reconfigured(limits);
        applyAll();
    }

    private Set<EffectiveLimit> limits() {
        Set<EffectiveLimit> all = new HashSet<>();
        catalogs.forEach(catalog -> all.addAll(catalog.effective()));
        return all;
    }

    /** Tells the listeners of a change. */
    void tell(RateLimitChangedEvent event) {
        applied.tell(event);
    }

    /** Returns the override of a limit, or of one of its plans, as this instance knows it, or {@code null}. */
    synchronized @Nullable ActiveOverride active(EffectiveLimit limit, @Nullable String plan) {
        return applied.find(limit, plan);
    }

    /** Returns the time by the store's clock. */
    private long now() {
        return known.nowMicros() + (nanos.getAsLong() - knownSince) / 1_000;
    }

    /** Reads the overrides when another instance says so. */
    private final class Told implements ChangeChannel.Subscriber {

        @Override
        public void onMessage(String message) {
            readSoon();
        }

        @Override
        public void onConnect() {
            readSoon();
        }
    }
}
