package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Report;
import io.ratelimit.benchmarks.results.Samples;
import io.ratelimit.benchmarks.results.Target;
import java.time.Duration;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs one benchmark after the other, each in a JVM of its own. */
final class Programme {

    private final Effort effort;

    private final RedisAddress redis;

    private final Lines lines;

    Programme(Effort effort, RedisAddress redis, Lines lines) {
        this.effort = effort;
        this.redis = redis;
        this.lines = lines;
    }

    /** What fails is reported as failed, and the rest goes on. */
    void run(Report report) {
        for (Heat heat : Heat.values()) {
            if (lines.has(heat)) {
                attempt(report, heat.line(), heat.title(), () -> race(heat, report));
            }
        }
        if (lines.has(Lines.FOOTPRINT)) {
            String title = "bytes in Redis for one limited user, 20 a minute: all keys, after one call and after 20";
            Target target = new Target("this starter, TOKEN_BUCKET", Measure.BYTES, 56);
            attempt(
                    report,
                    Lines.FOOTPRINT,
                    title,
                    () -> report.addBytes(
                            Lines.FOOTPRINT, title, measure(single(RedisBytesBenchmark.class, 1)), target));
        }
        if (lines.has(Lines.GROWTH)) {
            String heap = "bytes of the heap for a key";
            attempt(
                    report,
                    Lines.GROWTH,
                    heap,
                    () -> report.addBytes(Lines.GROWTH, heap, measure(single(HeapBenchmark.class, 1))));
            String start = "start-up of an application with 1,000 methods";
            attempt(
                    report,
                    Lines.GROWTH,
                    start,
                    () -> report.addStarts(
                            Lines.GROWTH,
                            start,
                            measure(single(StartUpBenchmark.class, effort.starts())),
                            StartUpBenchmark.METHODS));
        }
    }

    private static void attempt(Report report, int line, String title, Measurement measurement) {
        try {
            measurement.run();
        } catch (RunnerException ex) {
            ex.printStackTrace();
            report.addFailure(line, title);
        }
    }

    private void race(Heat heat, Report report) throws RunnerException {
        Samples samples = measure(options(RaceBenchmark.class)
                .param("heat", heat.name())
                .param(
                        "turnMillis",
                        Integer.toString(
                                heat.hasLongTurns()
                                        ? effort.longTurnMillis()
                                        : effort.turnMillis() * heat.turnFactor()))
                .forks(1)
                .warmupIterations(warmUps(heat))
                .measurementIterations(heat.hasLongTurns() ? effort.longRounds() : effort.rounds()));
        if (lines.has(heat.line())) {
            report.addRace(heat.line(), heat.title(), heat.measure(), samples, heat.targets());
        }
        if (lines.has(Lines.SERVER) && Lines.SERVER_HEATS.contains(heat)) {
            report.addServer(Lines.SERVER, heat.title(), samples);
        }
    }

    private int warmUps(Heat heat) {
        if (heat.hasLongTurns()) {
            return 1;
        }
        return heat.usesRedis() && heat.turnFactor() == 1 ? effort.redisWarmUps() : effort.warmUps();
    }

    private ChainedOptionsBuilder single(Class<?> benchmark, int forks) {
        return options(benchmark).forks(forks).warmupIterations(0).measurementIterations(1);
    }

    private ChainedOptionsBuilder options(Class<?> benchmark) {
        return new OptionsBuilder()
                .include("\\." + benchmark.getSimpleName() + "\\.")
                .addProfiler(FindingsProfiler.class)
                .jvmArgsAppend("-Xms1g", "-Xmx3g", redis.jvmArgument(), "-Dbenchmark.keys=" + effort.keys())
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true);
    }

    private static Samples measure(ChainedOptionsBuilder options) throws RunnerException {
        long start = System.nanoTime();
        Samples samples = new Samples();
        for (RunResult result : new Runner(options.build()).run()) {
            FindingsProfiler.findings(result).forEach(samples::add);
            System.out.printf(
                    "%s %s: %d s%n",
                    result.getParams().getBenchmark(),
                    result.getParams().getParamsKeys().contains("heat")
                            ? result.getParams().getParam("heat")
                            : "",
                    Duration.ofNanos(System.nanoTime() - start).toSeconds());
        }
        return samples;
    }

    @FunctionalInterface
    private interface Measurement {

        void run() throws RunnerException;
    }
}
