package io.ratelimit.benchmarks;

import io.ratelimit.Algorithm;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.redis.Bucket4jRedis;
import io.ratelimit.benchmarks.redis.GatewayScript;
import io.ratelimit.benchmarks.redis.OurApplication;
import io.ratelimit.benchmarks.redis.OurLimit;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.PlainCounter;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedissonLimiter;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What one user takes up in Redis: {@code MEMORY USAGE} of all keys there are after its calls, and its share of
 * {@code used_memory} when there are many users, which has Redis' own tables in it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class RedisBytesBenchmark {

    /** Not one of the users. */
    private static final String USER = "user-999999";

    private static final int THREADS = 32;

    /** The calls after which nothing is left. */
    private static final Quota QUOTA = Quota.TWENTY_A_DAY;

    private final String[] users = new Keys(Footprint.USERS).all();

    private final ExecutorService callers = Executors.newFixedThreadPool(THREADS);

    @Benchmark
    public void oneUser(Blackhole sink) {
        RedisAddress redis = RedisAddress.ofThisRun();
        List<Finding> findings = new ArrayList<>();
        try (RedisConsole console = new RedisConsole(List.of(redis))) {
            measure(new PlainCounter(redis), console, sink, findings);
            for (Algorithm algorithm : EnumSet.complementOf(EnumSet.of(Algorithm.CONCURRENCY))) {
                OurLimit limit = OurLimit.named("quotes", QUOTA).algorithm(algorithm);
                String name = "this starter, "
                        + algorithm.name().toLowerCase(Locale.ROOT).replace('_', ' ');
                measure(new OurRedis(name, OurApplication.patient(redis, limit), "quotes"), console, sink, findings);
            }
            measure(GatewayScript.of(redis, QUOTA), console, sink, findings);
            measure(new RedissonLimiter(redis, QUOTA), console, sink, findings);
            measure(Bucket4jRedis.plain(redis, QUOTA), console, sink, findings);
        } finally {
            callers.shutdown();
        }
        FindingsProfiler.report(findings);
    }

    private void measure(Contestant contestant, RedisConsole console, Blackhole sink, List<Finding> findings) {
        try (Contestant open = contestant) {
            console.clear();
            Check.that(open, true, USER, sink);
            findings.add(new Finding(open.name(), Measure.BYTES, console.bytes()));
            for (int call = 1; call < QUOTA.capacity(); call++) {
                open.call(USER, sink);
            }
            findings.add(new Finding(open.name(), Measure.BYTES_USED_UP, console.bytes()));
            console.clear();
            long before = console.usedMemory();
            callAll(open, sink);
            double perUser = (double) (console.usedMemory() - before) / users.length;
            findings.add(new Finding(open.name(), Measure.USED_MEMORY, perUser));
        }
    }

    private void callAll(Contestant contestant, Blackhole sink) {
        CompletableFuture.allOf(IntStream.range(0, THREADS)
                        .mapToObj(caller -> CompletableFuture.runAsync(
                                () -> {
                                    for (int user = caller; user < users.length; user += THREADS) {
                                        contestant.call(users[user], sink);
                                    }
                                },
                                callers))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }
}
