package io.ratelimit.benchmarks.regions;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/** What a simulation has counted. */
final class Outcome {

    /** The time in which admitted calls are counted together, in seconds. */
    static final double WINDOW = 10;

    private final double capacity;

    private final double rate;

    private final long[] offered;

    private final long[] admitted;

    private final long[] ideal;

    private final double[][] latencies;

    private final int[] answered;

    /** When calls were admitted, those of the last window. */
    private final Deque<Double> lastAdmitted = new ArrayDeque<>();

    private double mostTooMany;

    Outcome(int regions, double capacity, double rate, int mostCalls) {
        this.capacity = capacity;
        this.rate = rate;
        this.offered = new long[regions];
        this.admitted = new long[regions];
        this.ideal = new long[regions];
        this.latencies = new double[regions][mostCalls];
        this.answered = new int[regions];
    }

    void offered(int region, boolean idealAnswer) {
        offered[region]++;
        ideal[region] += idealAnswer ? 1 : 0;
    }

    void answered(int region, double now, double latency, boolean allowed) {
        latencies[region][answered[region]++] = latency;
        if (!allowed) {
            return;
        }
        admitted[region]++;
        lastAdmitted.add(now);
        while (lastAdmitted.peek() < now - WINDOW) {
            lastAdmitted.remove();
        }
        mostTooMany = Math.max(mostTooMany, lastAdmitted.size() - capacity - WINDOW * rate);
    }

    /** Admitted calls, of those that one bucket without any distance would have admitted. */
    double admitted() {
        return (double) Arrays.stream(admitted).sum() / Arrays.stream(ideal).sum();
    }

    /** By how much the calls of a window exceeded the capacity and what comes back in a window, at worst, as a share of both. */
    double tooMany() {
        return Math.max(0, mostTooMany) / (capacity + WINDOW * rate);
    }

    /** The smallest share of a region's calls that was admitted, of the largest. */
    double fairness() {
        double least = Double.MAX_VALUE;
        double most = 0;
        for (int region = 0; region < offered.length; region++) {
            double share = (double) admitted[region] / offered[region];
            least = Math.min(least, share);
            most = Math.max(most, share);
        }
        return least / most;
    }

    /** The time in which a share of the calls of a region is decided, in milliseconds. */
    double millis(int region, double share) {
        double[] sorted = Arrays.copyOf(latencies[region], answered[region]);
        Arrays.sort(sorted);
        return sorted.length == 0 ? 0 : 1_000 * sorted[(int) (share * (sorted.length - 1))];
    }
}
