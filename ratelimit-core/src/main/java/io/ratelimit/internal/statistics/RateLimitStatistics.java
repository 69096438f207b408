package io.ratelimit.internal.statistics;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.PeriodicTask;
import io.ratelimit.internal.statistics.SharedStatistics.Snapshot;
import io.ratelimit.spi.RateLimitListener;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Counts the calls of each limit, shares the counts with the other instances once a second, and returns the figures of all of
 * them. While the others cannot be asked, the figures are those of this instance.
 */
public final class RateLimitStatistics implements AutoCloseable {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** The longest history. */
    public static final Duration LONGEST_HISTORY = IntervalClock.STEP.multipliedBy(InstanceStatistics.INTERVALS - 1L);

    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** The longest time to wait for the figures of the other instances. */
    private static final Duration DEADLINE = Duration.ofMillis(500);

    /** The longest time to wait at the end. */
    private static final Duration SHUTDOWN = Duration.ofMillis(500);

    /** The number of rejected keys that are shown. */
    private static final int TOP = 20;

    /** The time without a heartbeat after which an instance is gone. */
    static final Duration PRESENCE = StatisticsPublisher.HEARTBEAT.multipliedBy(3);

    private final CallCounting counting;

    private final String id = UUID.randomUUID().toString();

    private final String name;

    private final @Nullable SharedStatistics shared;

    private final Supplier<InstanceState> state;

    private final LongSupplier epochMicros;

    private final IntervalClock clock;

    private final InstanceStatistics statistics;

    private final long started;

    private final @Nullable StatisticsPublisher publisher;

    private final @Nullable KeyPublisher keyPublisher;

    private final PeriodicTask counts;

    RateLimitStatistics(
            String name,
            @Nullable SharedStatistics shared,
            Supplier<InstanceState> state,
            @Nullable UnaryOperator<String> keyNames,
            InstanceCount instances,
            LongSupplier nanos,
            LongSupplier epochMicros,
            ScheduledExecutorService thread) {
        this.name = name;
        this.shared = shared;
        this.state = state;
        this.epochMicros = epochMicros;
        this.counting = new CallCounting(keyNames, nanos);
        this.clock = new IntervalClock(nanos, epochMicros.getAsLong());
        this.statistics = new InstanceStatistics(counting, clock);
        this.started = clock.nanos();
        this.publisher = shared == null
                ? null
                : new StatisticsPublisher(statistics, shared, id, this::ofThisInstance, started, instances);
        this.keyPublisher = shared == null || keyNames == null ? null : new KeyPublisher(counting, shared, id, nanos);
        this.counts = new PeriodicTask(thread, this::round, PAUSE::toMillis);
    }

    /**
     * Creates the statistics of an instance.
     *
     * @param name names the instance for people
     * @param shared {@code null}: there is no other instance to tell
     * @param state tells whether the instance shares its limits; may take as long as a decision
     * @param keyNames returns how a rejected key is called; {@code null}: keys are not counted
     * @param instances learns how many instances there are
     */
    public static RateLimitStatistics of(
            String name,
            @Nullable SharedStatistics shared,
            Supplier<InstanceState> state,
            @Nullable UnaryOperator<String> keyNames,
            InstanceCount instances) {
        return new RateLimitStatistics(
                name,
                shared,
                state,
                keyNames,
                instances,
                System::nanoTime,
                () -> System.currentTimeMillis() * 1_000,
                DaemonThreads.createServiceScheduler("ratelimit-statistics"));
    }

    /** Returns what counts. */
    public RateLimitListener listener() {
        return counting;
    }

    /** Counts by the second from now on, and shares the counts. */
    public void start() {
        if (publisher != null) {
            publisher.join();
        }
        counts.start();
    }

    void round() {
        statistics.sample();
        if (publisher == null) {
            long now = epochMicros.getAsLong();
            statistics.synchronize(now, now);
        } else {
            publisher.round();
        }
        if (keyPublisher != null) {
            keyPublisher.round();
        }
    }

    /** Shares the last counts, and waits for a moment. */
    public void stop() {
        counts.stop();
        if (publisher != null) {
            statistics.sample();
            BoundedWait.await(publisher.leave(), SHUTDOWN);
        }
    }

    @Override
    public void close() {
        counts.close();
    }

    /**
     * Returns the figures of limits.
     *
     * @param history how far back the history goes; zero: there is none
     * @param limit the id of the only one, whose figures are also those of each instance; {@code null}: all, without them
     */
    public Figures read(Duration history, @Nullable String limit) {
        statistics.sample();
        int intervals = history.isZero() ? 0 : intervals(history);
        if (shared != null) {
            try {
                return ofAll(shared, intervals, limit);
            } catch (RateLimitStoreException ex) {
                logger.log(Level.DEBUG, "Figures of the other instances cannot be read", ex);
            }
        }
        return new Figures(
                false,
                List.of(ofThisInstance()),
                statistics.history(),
                statistics.newest(),
                intervals,
                topKeys(null, limit));
    }

    /**
     * Returns the keys that a limit rejects most, this instance's as it knows them.
     *
     * @param all {@code null}: those of this instance alone
     */
    private @Nullable List<KeyCount> topKeys(@Nullable SharedStatistics all, @Nullable String limit) {
        if (limit == null || !counting.countsKeys()) {
            return null;
        }
        Map<String, KeyReport> reports =
                all == null ? new HashMap<>() : new HashMap<>(BoundedWait.get(all.readKeys(limit), DEADLINE));
        reports.put(id, counting.keys(limit));
        return KeyReport.sum(List.copyOf(reports.values()), TOP).counts();
    }

    /** Returns the number of the intervals that began within this time, and of the one before them. */
    private static int intervals(Duration history) {
        return (int) -Math.floorDiv(-history.toNanos(), IntervalClock.STEP.toNanos()) + 1;
    }

    private Figures ofAll(SharedStatistics all, int intervals, @Nullable String limit) {
        Snapshot snapshot = ask(all, intervals, limit);
        if (Math.abs(snapshot.nowMicros() - clock.micros()) > SharedStatistics.TOLERANCE_MICROS) {
            statistics.synchronize(snapshot.nowMicros(), snapshot.nowMicros());
            snapshot = ask(all, intervals, limit);
        }
        return new Figures(
                true, instances(snapshot), snapshot.counts(), clock.interval(), intervals, topKeys(all, limit));
    }

    private Snapshot ask(SharedStatistics all, int intervals, @Nullable String limit) {
        long newest = clock.interval();
        long first = newest - Math.max(intervals, InstanceStatistics.LAST_MINUTE) + 1;
        return BoundedWait.get(all.read(first, newest, limit), DEADLINE);
    }

    /**
     * Returns the instances that are there, this one as it knows itself, and then those that have not stopped and are no longer
     * heard, unless another one has their name: that is a restart.
     */
    private List<InstanceFigures> instances(Snapshot snapshot) {
        Instant oldest = IntervalClock.instant(snapshot.nowMicros()).minus(PRESENCE);
        List<InstanceFigures> present = new ArrayList<>();
        Map<String, InstanceFigures> silent = new TreeMap<>();
        present.add(ofThisInstance());
        for (InstanceFigures other : snapshot.instances()) {
            if (other.id().equals(id)) {
                continue;
            }
            if (other.lastSeenAt().isBefore(oldest)) {
                silent.put(other.name(), other.notHeard());
            } else {
                present.add(other);
            }
        }
        present.forEach(instance -> silent.remove(instance.name()));
        present.sort(Comparator.comparing(InstanceFigures::startedAt).thenComparing(InstanceFigures::id));
        Map<String, Integer> names = new HashMap<>();
        present.replaceAll(instance -> {
            int same = names.merge(instance.name(), 1, Integer::sum);
            return same == 1 ? instance : instance.named(instance.name() + "#" + same);
        });
        present.addAll(silent.values());
        return present;
    }

    private InstanceFigures ofThisInstance() {
        return new InstanceFigures(
                id,
                name,
                IntervalClock.instant(clock.at(started)),
                IntervalClock.instant(clock.micros()),
                state.get(),
                statistics.lastMinute());
    }
}
