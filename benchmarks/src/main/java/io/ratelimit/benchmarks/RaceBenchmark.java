package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Field;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Race;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * One JMH iteration is one round of turns. JMH forks, warms up, counts rounds and carries the findings; its own time, that
 * of a round, says nothing.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
public class RaceBenchmark {

    @Param
    public Heat heat = Heat.ANNOTATED_ALLOWED;

    @Param("100")
    public int turnMillis;

    private @Nullable RedisConsole redis;

    private @Nullable Race race;

    @Setup
    public void start(Blackhole sink) {
        RedisConsole console = heat.usesRedis() ? new RedisConsole(RedisAddress.ofThisRun()) : null;
        if (console != null) {
            console.clear();
        }
        Keys keys = new Keys(heat.keys());
        Field field = heat.field();
        Stream.concat(Stream.of(field.floor()), field.contestants().stream())
                .forEach(contestant -> Check.that(contestant, heat.allowed(), keys.all()[0], sink));
        redis = console;
        race = new Race(
                field,
                heat.allowed(),
                heat.threads(),
                keys,
                Duration.ofMillis(turnMillis),
                () -> console == null ? RedisLoad.NONE : console.load());
    }

    @Benchmark
    public void round(Blackhole sink) {
        if (race != null) {
            FindingsProfiler.report(race.round(sink));
        }
    }

    @TearDown
    public void stop() {
        if (race != null) {
            race.close();
        }
        if (redis != null) {
            redis.close();
        }
    }
}
