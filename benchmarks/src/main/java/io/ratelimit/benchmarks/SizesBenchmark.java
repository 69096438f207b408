package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.redis.EmbeddedCluster;
import io.ratelimit.benchmarks.redis.OurApplication;
import io.ratelimit.benchmarks.redis.OurLimit;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What a million users take of one server and of each master of a cluster: memory, CPU time and calls. The table of sizes in
 * docs/redis-size.md multiplies these numbers.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class SizesBenchmark {

    private static final int USERS = 1_000_000;

    private static final int MASTERS = 3;

    private static final int THREADS = 32;

    private static final Duration TIME = Duration.ofSeconds(10);

    private static final String ONE_SERVER = "one server";

    private static final String LIMIT = "quotes";

    private final String[] users = new Keys(USERS).all();

    private final ExecutorService callers = Executors.newFixedThreadPool(THREADS);

    static List<Row> rows() {
        return List.of(
                row("keys", Measure.KEYS),
                row("bytes of `used_memory` for a key", Measure.USED_MEMORY),
                row("decisions a second", Measure.CALLS),
                row("scripts for a decision", Measure.SCRIPTS),
                row("script, µs for a decision", Measure.SCRIPT_MICROS),
                row("CPU of Redis, µs for a decision", Measure.CPU_MICROS),
                row("decisions a second of a whole core", Measure.CALLS_OF_A_CORE));
    }

    private static Row row(String name, Measure measure) {
        List<String> masters =
                IntStream.range(0, MASTERS).mapToObj(SizesBenchmark::master).toList();
        return new Row(name, "", measure, ONE_SERVER, masters, null);
    }

    private static String master(int number) {
        return "master " + (number + 1);
    }

    @Benchmark
    public void millionUsers(Blackhole sink) throws Exception {
        List<Finding> findings = new ArrayList<>();
        try {
            RedisAddress one = RedisAddress.ofThisRun();
            measure(one, List.of(ONE_SERVER), findings, sink);
            try (RedisConsole console = new RedisConsole(List.of(one))) {
                console.clear();
            }
            try (EmbeddedCluster cluster = new EmbeddedCluster()) {
                measure(
                        cluster.address(),
                        IntStream.range(0, MASTERS)
                                .mapToObj(SizesBenchmark::master)
                                .toList(),
                        findings,
                        sink);
            }
        } finally {
            callers.shutdown();
        }
        FindingsProfiler.report(findings);
    }

    /** @param names of the servers */
    private void measure(RedisAddress redis, List<String> names, List<Finding> findings, Blackhole sink)
            throws Exception {
        OurLimit limit = OurLimit.named(LIMIT, Quota.TWENTY_A_DAY);
        List<RedisConsole> servers = redis.servers().stream()
                .map(server -> new RedisConsole(List.of(server)))
                .toList();
        try (OurRedis ours = new OurRedis("this starter", OurApplication.patient(redis, limit), LIMIT)) {
            servers.forEach(RedisConsole::clear);
            long[] before = servers.stream().mapToLong(RedisConsole::usedMemory).toArray();
            ours.touch(users, sink);
            for (int i = 0; i < names.size(); i++) {
                long keys = servers.get(i).keys();
                findings.add(new Finding(names.get(i), Measure.KEYS, keys));
                findings.add(new Finding(
                        names.get(i),
                        Measure.USED_MEMORY,
                        (double) (servers.get(i).usedMemory() - before[i]) / keys));
            }
            call(ours, Duration.ofSeconds(2), sink);
            List<RedisLoad> earlier = servers.stream().map(RedisConsole::load).toList();
            long start = System.nanoTime();
            call(ours, TIME, sink);
            double seconds = (System.nanoTime() - start) / 1e9;
            for (int i = 0; i < names.size(); i++) {
                add(findings, names.get(i), servers.get(i).load().since(earlier.get(i)), seconds);
            }
        } finally {
            servers.forEach(RedisConsole::close);
        }
    }

    private static void add(List<Finding> findings, String name, RedisLoad load, double seconds) {
        double decisions = load.reads();
        findings.add(new Finding(name, Measure.CALLS, decisions / seconds));
        findings.add(new Finding(name, Measure.SCRIPTS, load.scripts() / decisions));
        findings.add(new Finding(name, Measure.SCRIPT_MICROS, load.scriptMicros() / decisions));
        findings.add(new Finding(name, Measure.CPU_MICROS, load.cpuMicros() / decisions));
        findings.add(new Finding(name, Measure.CALLS_OF_A_CORE, 1e6 * decisions / load.cpuMicros()));
    }

    private void call(OurRedis ours, Duration time, Blackhole sink) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        List<Future<?>> calls = Stream.<Runnable>generate(() -> () -> {
                    while (System.nanoTime() - end < 0) {
                        ours.call(users[ThreadLocalRandom.current().nextInt(USERS)], sink);
                    }
                })
                .limit(THREADS)
                .<Future<?>>map(callers::submit)
                .toList();
        for (Future<?> call : calls) {
            call.get();
        }
    }
}
