package io.ratelimit.benchmarks;

import io.ratelimit.Algorithm;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.redis.Bucket4jRedis;
import io.ratelimit.benchmarks.redis.GatewayScript;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.PlainCounter;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedissonLimiter;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import io.ratelimit.benchmarks.results.Measure;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** What one user takes up in Redis: {@code MEMORY USAGE} of all keys there are after its calls. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class RedisBytesBenchmark {

    private static final String USER = "alice";

    private final Quota quota = Quota.TWENTY_A_MINUTE;

    @Benchmark
    public void oneUser(Blackhole sink) {
        RedisAddress redis = RedisAddress.ofThisRun();
        List<Finding> findings = new ArrayList<>();
        try (RedisConsole console = new RedisConsole(redis)) {
            measure(new PlainCounter(redis), console, sink, findings);
            for (Algorithm algorithm : Algorithm.values()) {
                measure(OurRedis.of(redis, quota, algorithm), console, sink, findings);
            }
            measure(new GatewayScript(redis, quota), console, sink, findings);
            measure(new RedissonLimiter(redis, quota), console, sink, findings);
            measure(Bucket4jRedis.plain(redis, quota), console, sink, findings);
        }
        FindingsProfiler.report(findings);
    }

    private void measure(Contestant contestant, RedisConsole console, Blackhole sink, List<Finding> findings) {
        try (Contestant open = contestant) {
            console.clear();
            open.call(USER, sink);
            findings.add(new Finding(open.name(), Measure.BYTES, (double) console.bytes()));
            for (int call = 1; call < quota.capacity(); call++) {
                open.call(USER, sink);
            }
            findings.add(new Finding(open.name(), Measure.BYTES_USED_UP, (double) console.bytes()));
        }
    }
}
