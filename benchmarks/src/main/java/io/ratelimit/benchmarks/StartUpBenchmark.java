package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Applications;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Row;
import java.util.List;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * How long an application takes to start, in a fresh JVM, whose ten beans have a hundred methods each: annotated, and the
 * same without an annotation.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class StartUpBenchmark {

    static final Row ROW = new Row(
            "start of an application with 1,000 annotated methods, ms; floor: without annotations",
            "",
            Measure.START_MILLIS,
            "this starter",
            List.of(),
            null);

    private static final int METHODS = 1_000;

    private static final int METHODS_OF_A_CLASS = 100;

    @Param({"true", "false"})
    public boolean annotated = true;

    @Benchmark
    public void start() {
        Class<?>[] beans = ManyMethods.classes(METHODS / METHODS_OF_A_CLASS, METHODS_OF_A_CLASS, annotated);
        long start = System.nanoTime();
        ConfigurableApplicationContext application =
                Applications.start("io.ratelimit.", Map.of("ratelimit.store", "in-memory"), beans);
        double millis = (System.nanoTime() - start) / 1e6;
        application.close();
        String name = annotated ? "this starter" : "not annotated (floor)";
        FindingsProfiler.report(List.of(new Finding(name, Measure.START_MILLIS, millis)));
    }
}
