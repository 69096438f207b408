package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Field;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Race;
import io.ratelimit.benchmarks.race.Workload;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedisConsole;
import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.FindingsProfiler;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
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
    public Scenario scenario = Scenario.ANNOTATED_ALLOWED;

    @Param("100")
    public int turnMillis;

    private @Nullable RedisConsole redis;

    private @Nullable Race race;

    @Setup
    public void start(Blackhole sink) {
        if (scenario.usesRedis()) {
            try (RedisConsole console = new RedisConsole(List.of(RedisAddress.ofThisRun()))) {
                console.clear();
            }
        }
        Field field = scenario.field();
        requireAll(field);
        for (Workload workload : scenario.workloads()) {
            String key = new Keys(workload.keys()).all()[0];
            field.all().forEach(contestant -> Check.that(contestant, scenario.allowed(), key, sink));
        }
        field.all().forEach(contestant -> contestant.prepare(sink));
        RedisConsole console = scenario.usesRedis() ? new RedisConsole(field.servers()) : null;
        redis = console;
        Race next = new Race(
                field,
                scenario.allowed(),
                scenario.workloads(),
                scenario.isTimed(),
                Duration.ofMillis(turnMillis),
                () -> console == null ? RedisLoad.NONE : console.load());
        race = next;
        next.warmUp(Duration.ofMillis((long) scenario.pace().turnsAlone() * turnMillis), sink);
    }

    /** A misspelt name would be an empty cell, half an hour later. */
    private void requireAll(Field field) {
        Set<String> names = field.all().map(Contestant::name).collect(Collectors.toSet());
        scenario.rows().stream()
                .flatMap(row -> Stream.concat(Stream.of(row.contestant()), row.peers().stream()))
                .filter(name -> !names.contains(name))
                .findFirst()
                .ifPresent(missing -> {
                    throw new IllegalStateException("There is no '%s' among %s".formatted(missing, names));
                });
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
