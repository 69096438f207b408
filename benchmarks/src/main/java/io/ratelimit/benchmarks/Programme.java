package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Report;
import io.ratelimit.benchmarks.results.Row;
import io.ratelimit.benchmarks.results.Samples;
import io.ratelimit.benchmarks.results.Section;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs one benchmark after the other, each in a JVM of its own. */
final class Programme {

    private static final int STARTS = 3;

    private final boolean quick;

    private final Set<Section> sections;

    private final Set<Scenario> scenarios;

    private final RedisAddress redis;

    private boolean failed;

    /** @param quick whether to measure less exactly, in a third of the time */
    Programme(boolean quick, Set<Section> sections, Set<Scenario> scenarios, RedisAddress redis) {
        this.quick = quick;
        this.sections = sections;
        this.scenarios = scenarios;
        this.redis = redis;
    }

    /**
     * Measures. What fails is reported as failed, and the rest goes on.
     *
     * @param afterEach is called after each benchmark, for a run that is ended early
     * @return whether all have succeeded
     */
    boolean run(Report report, Runnable afterEach) {
        for (Scenario scenario : scenarios) {
            attempt(report, scenario.section(), scenario.title(), scenario.rows(), race(scenario));
            afterEach.run();
        }
        attempt(report, Section.SIZES, "sizes", SizesBenchmark.rows(), single(SizesBenchmark.class, 1));
        afterEach.run();
        attempt(report, Section.BYTES, "bytes in Redis", Footprint.inRedis(), single(RedisBytesBenchmark.class, 1));
        attempt(report, Section.BYTES, "bytes of the heap", Footprint.onTheHeap(), single(HeapBenchmark.class, 1));
        attempt(
                report,
                Section.GROWTH,
                "start-up",
                List.of(StartUpBenchmark.ROW),
                single(StartUpBenchmark.class, quick ? 1 : STARTS));
        return !failed;
    }

    private void attempt(Report report, Section section, String title, List<Row> rows, ChainedOptionsBuilder options) {
        if (!sections.contains(section)) {
            return;
        }
        long start = System.nanoTime();
        try {
            Samples samples = new Samples();
            for (RunResult result : new Runner(options.build()).run()) {
                FindingsProfiler.findings(result).forEach(samples::add);
            }
            report.add(section, title, rows, samples);
        } catch (RunnerException ex) {
            ex.printStackTrace();
            report.addFailure(section, title);
            failed = true;
        }
        System.out.printf(
                "%s, %s: %d s%n",
                section.option(),
                title,
                Duration.ofNanos(System.nanoTime() - start).toSeconds());
    }

    private ChainedOptionsBuilder race(Scenario scenario) {
        Pace pace = scenario.pace();
        return options(RaceBenchmark.class)
                .param("scenario", scenario.name())
                .param("turnMillis", Integer.toString(pace.turnMillis(quick)))
                .forks(1)
                .warmupIterations(pace.warmUps(quick))
                .measurementIterations(pace.rounds(quick));
    }

    private ChainedOptionsBuilder single(Class<?> benchmark, int forks) {
        return options(benchmark).forks(forks).warmupIterations(0).measurementIterations(1);
    }

    private ChainedOptionsBuilder options(Class<?> benchmark) {
        return new OptionsBuilder()
                .include("\\." + benchmark.getSimpleName() + "\\.")
                .addProfiler(FindingsProfiler.class)
                .jvmArgsAppend("-Xms1g", "-Xmx3g", redis.jvmArgument())
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true);
    }
}
