package io.ratelimit.internal.statistics;

import io.ratelimit.internal.concurrent.Futures;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;

/**
 * Tells the other instances which keys this one rejects most: every ten seconds those of limits that have rejected, and those of
 * all limits once a minute, because the others forget them. Failures are reported by {@link StatisticsPublisher}.
 */
final class KeyPublisher {

    private static final Duration PAUSE = Duration.ofSeconds(10);

    private static final int ALL = 6;

    private final CallCounting counting;

    private final SharedStatistics shared;

    private final String id;

    private final LongSupplier nanos;

    private long next;

    private int published;

    private CompletableFuture<?> underWay = CompletableFuture.completedFuture(null);

    KeyPublisher(CallCounting counting, SharedStatistics shared, String id, LongSupplier nanos) {
        this.counting = counting;
        this.shared = shared;
        this.id = id;
        this.nanos = nanos;
        this.next = nanos.getAsLong();
    }

    /** Publishes if it is time. Called by one thread. */
    void round() {
        long now = nanos.getAsLong();
        if (!underWay.isDone() || now - next < 0) {
            return;
        }
        boolean all = published++ % ALL == 0 || underWay.isCompletedExceptionally();
        next = now + PAUSE.toNanos();
        Map<String, KeyReport> reports = reports(all);
        if (!reports.isEmpty()) {
            underWay = Futures.start(() -> shared.publishKeys(id, reports));
        }
    }

    private Map<String, KeyReport> reports(boolean all) {
        Map<String, KeyReport> reports = new HashMap<>();
        counting.eachKeys((limit, keys) -> {
            if (keys.takeChanged() || all) {
                KeyReport report = keys.report();
                if (!report.counts().isEmpty()) {
                    reports.put(limit, report);
                }
            }
        });
        return reports;
    }
}
