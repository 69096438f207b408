package io.ratelimit.statistics;

import io.ratelimit.concurrent.Futures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
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

    /** Returns the reports, that of the limit that rejects most first. */
    private Map<String, KeyReport> reports(boolean all) {
        List<Map.Entry<String, KeyReport>> reports = new ArrayList<>();
        counting.eachKeys((limit, keys) -> {
            if (keys.takeChanged() || all) {
                KeyReport report = keys.report();
                if (!report.counts().isEmpty()) {
                    reports.add(Map.entry(limit, report));
                }
            }
        });
        reports.sort(Map.Entry.comparingByValue(Comparator.comparingLong(
                        (KeyReport report) -> report.counts().get(0).rejected())
                .reversed()));
        Map<String, KeyReport> sorted = new LinkedHashMap<>();
        reports.forEach(report -> sorted.put(report.getKey(), report.getValue()));
        return sorted;
    }
}
