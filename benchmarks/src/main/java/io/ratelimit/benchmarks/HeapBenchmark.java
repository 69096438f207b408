package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.memory.AtomicAdd;
import io.ratelimit.benchmarks.memory.Bucket4jMap;
import io.ratelimit.benchmarks.memory.OurStore;
import io.ratelimit.benchmarks.memory.Resilience4jRegistry;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a key takes up on the heap: its size after a full collection, with and without buckets for 200,000 keys. The text
 * of the keys is there both times.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class HeapBenchmark {

    private static final int KEYS = 200_000;

    private final String[] keys = new Keys(KEYS).all();

    @Benchmark
    public void buckets(Blackhole sink) {
        List<Finding> findings = new ArrayList<>();
        measure(AtomicAdd::new, sink, findings);
        measure(() -> new OurStore("this starter, bare store", 2 * KEYS), sink, findings);
        measure(Resilience4jRegistry::new, sink, findings);
        measure(Bucket4jMap::new, sink, findings);
        FindingsProfiler.report(findings);
    }

    private void measure(Supplier<Contestant> supplier, Blackhole sink, List<Finding> findings) {
        long before = heap();
        Contestant contestant = supplier.get();
        for (String key : keys) {
            contestant.call(key, sink);
        }
        double bytes = (double) (heap() - before) / KEYS;
        findings.add(new Finding(contestant.name(), Measure.HEAP, bytes));
        contestant.close();
    }

    private static long heap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
