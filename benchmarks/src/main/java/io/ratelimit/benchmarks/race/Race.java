package io.ratelimit.benchmarks.race;

import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.PairedRatios;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Rounds in which every contestant has a turn, in shuffled order, and the floor one before and one after each of them.
 */
public final class Race implements AutoCloseable {

    private final Field field;

    private final boolean allowed;

    private final int threads;

    private final Keys keys;

    private final Duration turn;

    private final Supplier<RedisLoad> redis;

    private final ExecutorService players;

    private final Map<Contestant, CallLoop> loops = new HashMap<>();

    private final List<Contestant> order;

    private final Random random = new Random(1);

    private final SplittableRandom seeds = new SplittableRandom(1);

    /**
     * @param allowed what every call should be told
     * @param redis asks Redis what it has done so far
     */
    public Race(Field field, boolean allowed, int threads, Keys keys, Duration turn, Supplier<RedisLoad> redis) {
        this.field = field;
        this.allowed = allowed;
        this.threads = threads;
        this.keys = keys;
        this.turn = turn;
        this.redis = redis;
        this.players = Executors.newFixedThreadPool(threads);
        this.order = new ArrayList<>(field.contestants());
    }

    /** One round. */
    public List<Finding> round(Blackhole sink) {
        Collections.shuffle(order, random);
        List<Finding> findings = new ArrayList<>();
        Score before = play(field.floor(), sink);
        for (Contestant contestant : order) {
            Score score = play(contestant, sink);
            Score after = play(field.floor(), sink);
            addTo(findings, field.floor(), before);
            addTo(findings, contestant, score);
            compare(findings, contestant.name(), before, score, after);
            before = after;
        }
        return distinct(findings);
    }

    private Score play(Contestant contestant, Blackhole sink) {
        CallLoop loop = loops.computeIfAbsent(contestant, unused -> CallLoops.copy());
        Turn now = new Turn();
        RedisLoad redisBefore = redis.get();
        long allocatedBefore = AllocatedBytes.now();
        List<Future<Tally>> playing = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            SplittableRandom seed = seeds.split();
            Callable<Tally> player = () -> loop.run(contestant, keys, allowed, now, sink, seed);
            playing.add(players.submit(player));
        }
        try {
            TimeUnit.NANOSECONDS.sleep(turn.toNanos());
            now.over = true;
            List<Tally> tallies = new ArrayList<>();
            for (Future<Tally> one : playing) {
                tallies.add(one.get());
            }
            long allocated = AllocatedBytes.now() - allocatedBefore;
            return new Score(Tally.sum(tallies), threads, allocated, redis.get().since(redisBefore));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in a turn", ex);
        } catch (ExecutionException ex) {
            throw new IllegalStateException(contestant.name() + " failed", ex);
        } finally {
            now.over = true;
        }
    }

    private static void addTo(List<Finding> findings, Contestant contestant, Score score) {
        findings.add(new Finding(contestant.name(), Measure.NANOS, score.nanos()));
        findings.add(new Finding(contestant.name(), Measure.ALLOCATED, score.allocatedPerCall()));
        findings.add(new Finding(contestant.name(), Measure.WRONG, score.wrong()));
        if (score.redis().cpuMicros() > 0) {
            findings.add(new Finding(contestant.name(), Measure.SCRIPTS, score.scripts()));
            findings.add(new Finding(contestant.name(), Measure.SCRIPT_MICROS, score.scriptMicros()));
            findings.add(new Finding(contestant.name(), Measure.CPU_MICROS, score.cpuMicros()));
        }
    }

    private static void compare(List<Finding> findings, String name, Score before, Score score, Score after) {
        double throughput = PairedRatios.ratio(before.perNano(), score.perNano(), after.perNano());
        findings.add(new Finding(name, Measure.THROUGHPUT, throughput));
        findings.add(new Finding(name, Measure.COST, 1 / throughput));
        if (before.redis().cpuMicros() > 0) {
            findings.add(new Finding(
                    name,
                    Measure.SCRIPT_COST,
                    PairedRatios.ratio(before.scriptMicros(), score.scriptMicros(), after.scriptMicros())));
            findings.add(new Finding(
                    name,
                    Measure.CPU_COST,
                    PairedRatios.ratio(before.cpuMicros(), score.cpuMicros(), after.cpuMicros())));
        }
    }

    /** A name and measure once: of the floor's turns one stands for all, and JMH keeps one result of a name. */
    private static List<Finding> distinct(List<Finding> findings) {
        Map<List<Object>, Finding> latest = new HashMap<>();
        findings.forEach(finding -> latest.put(List.of(finding.contestant(), finding.measure()), finding));
        return List.copyOf(latest.values());
    }

    @Override
    public void close() {
        players.shutdownNow();
        field.close();
    }
}
