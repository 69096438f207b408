package io.ratelimit.benchmarks.race;

import io.ratelimit.benchmarks.redis.RedisLoad;
import io.ratelimit.benchmarks.results.Finding;
import io.ratelimit.benchmarks.results.Measure;
import io.ratelimit.benchmarks.results.PairedRatios;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
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
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Rounds in which every contestant has a turn under each workload, in shuffled order, and the floor one before and one after
 * each of them.
 */
public final class Race implements AutoCloseable {

    private final Field field;

    private final boolean allowed;

    private final Map<Workload, Keys> workloads = new LinkedHashMap<>();

    private final boolean timed;

    private final Duration turn;

    private final Supplier<RedisLoad> redis;

    private final ExecutorService players;

    private final Map<Contestant, CallLoop> loops = new HashMap<>();

    private final List<Contestant> order;

    private final Random random = new Random(1);

    private final SplittableRandom seeds = new SplittableRandom(1);

    /**
     * @param allowed what every call should be told
     * @param timed whether each call is long enough to be timed
     * @param redis asks Redis what it has done so far
     */
    public Race(
            Field field,
            boolean allowed,
            List<Workload> workloads,
            boolean timed,
            Duration turn,
            Supplier<RedisLoad> redis) {
        this.field = field;
        this.allowed = allowed;
        workloads.forEach(workload -> this.workloads.put(workload, new Keys(workload.keys())));
        this.timed = timed;
        this.turn = turn;
        this.redis = redis;
        this.players = Executors.newFixedThreadPool(
                workloads.stream().mapToInt(Workload::threads).max().orElseThrow());
        this.order = new ArrayList<>(field.contestants());
    }

    /** Lets every contestant alone make calls, under the last workload, until the JIT has compiled what it needs. */
    public void warmUp(Duration each, Blackhole sink) {
        List<Map.Entry<Workload, Keys>> all = List.copyOf(workloads.entrySet());
        Map.Entry<Workload, Keys> last = all.get(all.size() - 1);
        field.all().forEach(contestant -> play(contestant, last.getKey(), last.getValue(), sink, each));
    }

    /** One round: every contestant under every workload. */
    public List<Finding> round(Blackhole sink) {
        List<Finding> findings = new ArrayList<>();
        workloads.forEach((workload, keys) -> {
            Collections.shuffle(order, random);
            Score before = play(field.floor(), workload, keys, sink);
            for (Contestant contestant : order) {
                Score score = play(contestant, workload, keys, sink);
                Score after = play(field.floor(), workload, keys, sink);
                addTo(findings, workload, field.floor(), before);
                addTo(findings, workload, contestant, score);
                compare(findings, workload, contestant.name(), before, score, after);
                before = after;
            }
        });
        return distinct(findings);
    }

    private Score play(Contestant contestant, Workload workload, Keys keys, Blackhole sink) {
        return play(contestant, workload, keys, sink, turn);
    }

    private Score play(Contestant contestant, Workload workload, Keys keys, Blackhole sink, Duration time) {
        CallLoop loop = loops.computeIfAbsent(contestant, unused -> CallLoops.copy(timed));
        Turn now = new Turn();
        RedisLoad redisBefore = redis.get();
        long allocatedBefore = AllocatedBytes.now();
        List<Future<Tally>> playing = new ArrayList<>();
        for (int i = 0; i < workload.threads(); i++) {
            SplittableRandom seed = seeds.split();
            Callable<Tally> player = () -> loop.run(contestant, keys, allowed, now, sink, seed);
            playing.add(players.submit(player));
        }
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
            now.over = true;
            List<Tally> tallies = new ArrayList<>();
            for (Future<Tally> one : playing) {
                tallies.add(one.get());
            }
            long allocated = AllocatedBytes.now() - allocatedBefore;
            return new Score(
                    Tally.sum(tallies),
                    workload.threads(),
                    allocated,
                    redis.get().since(redisBefore));
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted in a turn", ex);
        } catch (ExecutionException ex) {
            throw new IllegalStateException(contestant.name() + " failed", ex);
        } finally {
            now.over = true;
        }
    }

    private static void addTo(List<Finding> findings, Workload workload, Contestant contestant, Score score) {
        BiConsumer<Measure, Double> add =
                (measure, value) -> findings.add(new Finding(workload.label(), contestant.name(), measure, value));
        add.accept(Measure.NANOS, score.nanos());
        add.accept(Measure.CALLS, score.perSecond());
        add.accept(Measure.ALLOCATED, score.allocatedPerCall());
        add.accept(Measure.WRONG, score.wrong());
        Histogram latencies = score.tally().latencies();
        if (latencies != null) {
            add.accept(Measure.P99_MICROS, latencies.getValueAtPercentile(99) / 1e3);
        }
        if (score.redis().cpuMicros() > 0) {
            add.accept(Measure.SCRIPTS, score.scripts());
            add.accept(Measure.SCRIPT_MICROS, score.scriptMicros());
            add.accept(Measure.CPU_MICROS, score.cpuMicros());
        }
    }

    private static void compare(
            List<Finding> findings, Workload workload, String name, Score before, Score score, Score after) {
        double throughput = PairedRatios.ratio(before.perNano(), score.perNano(), after.perNano());
        findings.add(new Finding(workload.label(), name, Measure.THROUGHPUT, throughput));
        findings.add(new Finding(workload.label(), name, Measure.COST, 1 / throughput));
    }

    /** A name and measure once: of the floor's turns one stands for all, and JMH keeps one result of a name. */
    private static List<Finding> distinct(List<Finding> findings) {
        Map<List<Object>, Finding> latest = new LinkedHashMap<>();
        findings.forEach(
                finding -> latest.put(List.of(finding.workload(), finding.contestant(), finding.measure()), finding));
        return List.copyOf(latest.values());
    }

    @Override
    public void close() {
        players.shutdownNow();
        field.close();
    }
}
