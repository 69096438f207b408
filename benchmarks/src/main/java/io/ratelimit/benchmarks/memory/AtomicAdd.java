package io.ratelimit.benchmarks.memory;

import io.ratelimit.benchmarks.race.Contestant;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.infra.Blackhole;

/** The floor of decisions in memory: find the key, read the clock, add once. No limiter can do with less. */
public final class AtomicAdd implements Contestant {

    private final ConcurrentMap<String, AtomicLong> counters = new ConcurrentHashMap<>();

    @Override
    public String name() {
        return "map, clock, atomic add (floor)";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        AtomicLong known = counters.get(key);
        AtomicLong counter = known != null ? known : counters.computeIfAbsent(key, unused -> new AtomicLong());
        sink.consume(System.nanoTime());
        return counter.incrementAndGet() > 0;
    }
}
