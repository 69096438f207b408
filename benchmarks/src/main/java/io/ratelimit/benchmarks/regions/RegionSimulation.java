package io.ratelimit.benchmarks.regions;

import io.ratelimit.benchmarks.regions.Design.WhileCut;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.BiFunction;

/**
 * Simulates one limit of 1,000 permits, 1,000 a second, for one key that three regions use, by several designs. Prints tables for
 * docs/regions.md: how many calls each design admits of those that one bucket without any distance would, how many too many, how
 * evenly, and how long a decision takes.
 *
 * <p>Assumptions: one instance in each region, so that leases are not divided further; lines have a constant round trip and lose
 * nothing until they are cut; Redis and the instances take no time; calls come at random (Poisson), one permit each, and rejected
 * callers do not try again.
 *
 * <p>{@code java -cp benchmarks/target/benchmarks.jar io.ratelimit.benchmarks.regions.RegionSimulation [seed]}
 */
public final class RegionSimulation {

    static final double RATE = 1_000;

    static final double CAPACITY = 1_000;

    private static final double SECONDS = 60;

    private static final double CUT_FROM = 20;

    private static final double CUT_TO = 40;

    /** To the region of Redis itself, to one on the same continent, and around the world; in seconds. */
    private static final double[] ROUND_TRIPS = {0.001, 0.030, 0.150};

    static final Plan QUICK_BUDGETS = (timeline, wire) -> new Budgets(timeline, wire, CAPACITY, RATE, 2);

    static final List<Plan> PLANS = List.of(
            (timeline, wire) -> new OneHome(timeline, wire, CAPACITY, RATE, 0, WhileCut.LOCAL),
            (timeline, wire) -> new OneHome(timeline, wire, CAPACITY, RATE, 0, WhileCut.REJECT),
            (timeline, wire) -> new OneHome(timeline, wire, CAPACITY, RATE, 10, WhileCut.LOCAL),
            (timeline, wire) -> new OneHome(timeline, wire, CAPACITY, RATE, 100, WhileCut.LOCAL),
            (timeline, wire) -> new Budgets(timeline, wire, CAPACITY, RATE, 0),
            QUICK_BUDGETS,
            (timeline, wire) -> new Budgets(timeline, wire, CAPACITY, RATE, 30));

    private final long seed;

    RegionSimulation(long seed) {
        this.seed = seed;
    }

    public static void main(String[] arguments) {
        long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : 1;
        System.out.println("Seed " + seed + ".");
        RegionSimulation simulation = new RegionSimulation(seed);
        for (double load : new double[] {0.7, 1.3}) {
            for (Demand demand : Demand.values()) {
                System.out.printf(
                        Locale.ROOT,
                        "%n### Load %.1f: %s%n%n| | admitted | too many | least served region | p50, ms | p99, ms |%n"
                                + "|---|---:|---:|---:|---:|---:|%n",
                        load,
                        demand.description());
                PLANS.forEach(plan -> print(simulation.run(plan, demand, load, false), plan));
            }
        }
        System.out.printf(
                Locale.ROOT,
                "%n### Load 1.3, evenly, the farthest region cut off for 20 s of 60%n%n"
                        + "| | admitted | too many | least served region | p50, ms | p99, ms |%n"
                        + "|---|---:|---:|---:|---:|---:|%n");
        PLANS.forEach(plan -> print(simulation.run(plan, Demand.EVEN, 1.3, true), plan));
    }

    private static void print(Outcome outcome, Plan plan) {
        Timeline none = new Timeline();
        System.out.printf(
                Locale.ROOT,
                "| %s | %.2f | %.1f %% | %.2f | %s | %s |%n",
                plan.apply(none, new Wire(none, ROUND_TRIPS)).name(),
                outcome.admitted(),
                100 * outcome.tooMany(),
                outcome.fairness(),
                latencies(outcome, 0.5),
                latencies(outcome, 0.99));
    }

    private static String latencies(Outcome outcome, double share) {
        StringBuilder text = new StringBuilder();
        for (int region = 0; region < ROUND_TRIPS.length; region++) {
            text.append(region > 0 ? ", " : "").append(Math.round(outcome.millis(region, share)));
        }
        return text.toString();
    }

    /** Runs one design under one demand. */
    Outcome run(Plan plan, Demand demand, double load, boolean cut) {
        Timeline timeline = new Timeline();
        Wire wire = new Wire(timeline, ROUND_TRIPS);
        Design design = plan.apply(timeline, wire);
        Bucket ideal = new Bucket(CAPACITY, RATE);
        double mostASecond = demand.largestShare() * RATE * load;
        Outcome outcome = new Outcome(ROUND_TRIPS.length, CAPACITY, RATE, (int) (2 * mostASecond * SECONDS));
        for (int region = 0; region < ROUND_TRIPS.length; region++) {
            new Callers(region, new Random(seed * 31 + region), timeline, design, ideal, outcome, demand, load).next();
        }
        if (cut) {
            int farthest = ROUND_TRIPS.length - 1;
            timeline.after(CUT_FROM, () -> wire.cut(farthest, true));
            timeline.after(CUT_TO, () -> wire.cut(farthest, false));
        }
        timeline.runUntil(SECONDS);
        return outcome;
    }

    /** Creates a design. */
    interface Plan extends BiFunction<Timeline, Wire, Design> {}

    /** The callers of a region. Candidates come at the highest speed, and those that are too many are left out. */
    private record Callers(
            int region,
            Random random,
            Timeline timeline,
            Design design,
            Bucket ideal,
            Outcome outcome,
            Demand demand,
            double load) {

        void next() {
            double mostASecond = demand.largestShare() * RATE * load;
            timeline.after(-Math.log(1 - random.nextDouble()) / mostASecond, () -> {
                next();
                if (random.nextDouble() * demand.largestShare() < demand.share(region, timeline.now())) {
                    call();
                }
            });
        }

        private void call() {
            double start = timeline.now();
            outcome.offered(region, ideal.take(start, 1));
            design.call(region, allowed -> outcome.answered(region, timeline.now(), timeline.now() - start, allowed));
        }
    }
}
