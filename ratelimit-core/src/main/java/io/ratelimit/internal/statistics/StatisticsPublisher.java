package io.ratelimit.internal.statistics;

import io.ratelimit.internal.concurrent.BackgroundFailureLog;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.statistics.SharedStatistics.Receipt;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells the other instances what this one has counted: one publication at a time, and none if nothing was counted, except for a
 * heartbeat now and then. Counts whose publication has failed are sent again with the same number, so that they are added
 * once even if they have arrived.
 */
final class StatisticsPublisher {

    /** Between two publications without counts. */
    static final Duration HEARTBEAT = Duration.ofSeconds(10);

    /** Between two attempts, after several have failed. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(8);

    /** All instances together publish so often in a second. */
    private static final long MOST_PER_SECOND = 50;

    /** The number of intervals in one publication. More wait only after Redis was unavailable. */
    private static final int MOST_INTERVALS = 12;

    private final InstanceStatistics statistics;

    private final SharedStatistics shared;

    private final String id;

    private final Supplier<InstanceFigures> instance;

    private final long started;

    private final InstanceCount instances;

    private SortedMap<Long, Map<String, CallCounts>> counts = new TreeMap<>();

    private long sequence;

    private @Nullable InstanceFigures published;

    private long publishedAt;

    private long nextAttempt;

    private int failures;

    private final BackgroundFailureLog failureLog = new BackgroundFailureLog(
            "Figures of rate limits cannot be shared with the other instances ({0}); each instance shows its own",
            "Figures of rate limits are shared with the other instances again");

    private boolean present = true;

    private CompletableFuture<?> underWay = CompletableFuture.completedFuture(null);

    /**
     * @param id that of this instance
     * @param instance describes this instance as it is now; may take as long as a decision
     * @param started when it has started, by the monotonic clock
     * @param instances learns how many instances there are
     */
    StatisticsPublisher(
            InstanceStatistics statistics,
            SharedStatistics shared,
            String id,
            Supplier<InstanceFigures> instance,
            long started,
            InstanceCount instances) {
        this.statistics = statistics;
        this.shared = shared;
        this.id = id;
        this.instance = instance;
        this.started = started;
        this.instances = instances;
        this.nextAttempt = statistics.clock().nanos();
    }

    /** Publishes if it is time and there is something to tell. */
    void round() {
        if (isTime()) {
            publishIfNews(instance.get());
        }
    }

    private synchronized boolean isTime() {
        return present && underWay.isDone() && statistics.clock().nanos() - nextAttempt >= 0;
    }

    private synchronized void publishIfNews(InstanceFigures figures) {
        long now = statistics.clock().nanos();
        if (!present) {
            return;
        }
        take();
        if (!counts.isEmpty() || isNews(figures) || now - publishedAt >= HEARTBEAT.toNanos()) {
            publish(figures);
        }
    }

    /** Tells what is left, and that this instance stops, as soon as nothing is under way. */
    synchronized CompletableFuture<?> leave() {
        present = false;
        return underWay.thenCompose(done -> tellRest());
    }

    private synchronized CompletableFuture<?> tellRest() {
        if (!present) {
            take();
            publish(null);
        }
        return underWay;
    }

    /** Publishes from now on, again after it has left. */
    synchronized void join() {
        present = true;
    }

    /** Once sent, counts are not added to, because they may have arrived. */
    private void take() {
        if (counts.isEmpty()) {
            counts = statistics.takeUnpublished(MOST_INTERVALS);
            sequence += counts.isEmpty() ? 0 : 1;
        }
    }

    private boolean isNews(InstanceFigures figures) {
        InstanceFigures known = published;
        return known == null
                || !known.state().equals(figures.state())
                || !known.lastMinute().equals(figures.lastMinute());
    }

    private void publish(@Nullable InstanceFigures figures) {
        IntervalClock clock = statistics.clock();
        long sent = clock.nanos();
        Publication publication = new Publication(id, figures, sequence, clock.micros(), clock.at(started), counts);
        underWay = Futures.start(() -> shared.publish(publication)).handle((receipt, thrown) -> {
            if (thrown == null) {
                published(figures, receipt, sent);
            } else {
                failed(Futures.unwrap(thrown));
            }
            return null;
        });
    }

    private synchronized void published(@Nullable InstanceFigures figures, Receipt receipt, long sent) {
        long now = statistics.clock().nanos();
        long moved = statistics.synchronize(receipt.nowMicros(), receipt.nowMicros() + (now - sent) / 1_000);
        nextAttempt = sent + Duration.ofSeconds(1).toNanos() * receipt.instances() / MOST_PER_SECOND;
        failures = 0;
        if (receipt.accepted()) {
            counts = new TreeMap<>();
            published = figures;
            publishedAt = sent;
            instances.update(receipt.instances(), now);
        } else {
            counts = InstanceStatistics.renumbered(counts, moved);
        }
        failureLog.succeeded();
    }

    private synchronized void failed(Throwable failure) {
        long pause = Math.min(Duration.ofSeconds(1).toNanos() << Math.min(failures, 10), LONGEST_PAUSE.toNanos());
        failures++;
        instances.keep();
        nextAttempt = statistics.clock().nanos() + pause;
        failureLog.failed(failure);
    }
}
