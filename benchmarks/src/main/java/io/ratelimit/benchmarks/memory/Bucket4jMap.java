package io.ratelimit.benchmarks.memory;

import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.openjdk.jmh.infra.Blackhole;

/** Bucket4j used programmatically: an unbounded map of its local buckets. */
public final class Bucket4jMap implements Contestant {

    private final ConcurrentMap<String, Bucket> buckets = new ConcurrentHashMap<>();

    private static Bucket bucket() {
        return Bucket.builder()
                .addLimit(limit -> limit.capacity(Quota.PLENTY.capacity())
                        .refillGreedy(Quota.PLENTY.permits(), Quota.PLENTY.period()))
                .build();
    }

    @Override
    public String name() {
        return "Bucket4j";
    }

    @Override
    public boolean call(String key, Blackhole sink) {
        Bucket known = buckets.get(key);
        Bucket bucket = known != null ? known : buckets.computeIfAbsent(key, unused -> bucket());
        ConsumptionProbe probe = bucket.tryConsumeAndReturnRemaining(1);
        sink.consume(probe);
        return probe.isConsumed();
    }
}
