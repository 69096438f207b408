package io.ratelimit.outage;

import io.ratelimit.RateLimitDecision;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** What became of calls, by limit and key. */
final class Ledger {

    private final Map<List<String>, LongAdder> called = new ConcurrentHashMap<>();

    private final Map<List<String>, LongAdder> admitted = new ConcurrentHashMap<>();

    private final Map<List<String>, LongAdder> rejected = new ConcurrentHashMap<>();

    private final LongAccumulator slowestNanos = new LongAccumulator(Math::max, 0);

    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();

    void calling(String limit, String key) {
        add(called, limit, key);
    }

    void decided(String limit, String key, RateLimitDecision decision, long nanos) {
        slowestNanos.accumulate(nanos);
        add(decision.allowed() ? admitted : rejected, limit, key);
    }

    void failed(Throwable error) {
        errors.add(error);
    }

    private static void add(Map<List<String>, LongAdder> counts, String limit, String key) {
        counts.computeIfAbsent(List.of(limit, key), any -> new LongAdder()).increment();
    }

    private static long sum(Map<List<String>, LongAdder> counts, String limit, String key) {
        LongAdder count = counts.get(List.of(limit, key));
        return count == null ? 0 : count.sum();
    }

    long called(String limit, String key) {
        return sum(called, limit, key);
    }

    long admitted(String limit, String key) {
        return sum(admitted, limit, key);
    }

    /** Of the key with the fewest. */
    long leastRejected(String limit, Collection<String> keys) {
        return keys.stream().mapToLong(key -> sum(rejected, limit, key)).min().orElseThrow();
    }

    long decisions() {
        return List.of(admitted, rejected).stream()
                .flatMap(counts -> counts.values().stream())
                .mapToLong(LongAdder::sum)
                .sum();
    }

    void forgetTimes() {
        slowestNanos.reset();
    }

    long slowestMillis() {
        return slowestNanos.get() / 1_000_000;
    }

    List<Throwable> errors() {
        return List.copyOf(errors);
    }
}
