package io.ratelimit.benchmarks.regions;

import java.util.Arrays;

/** The lines from the regions to the one with Redis, by their round trips, and while they are cut. */
final class Wire {

    private final Timeline timeline;

    private final double[] roundTrips;

    private final boolean[] cut;

    /** @param roundTrips in seconds */
    Wire(Timeline timeline, double[] roundTrips) {
        this.timeline = timeline;
        this.roundTrips = roundTrips;
        this.cut = new boolean[roundTrips.length];
    }

    int regions() {
        return roundTrips.length;
    }

    double roundTrip(int region) {
        return roundTrips[region];
    }

    double longestRoundTrip() {
        return Arrays.stream(roundTrips).max().orElse(0);
    }

    boolean isCut(int region) {
        return cut[region];
    }

    void cut(int region, boolean isCut) {
        cut[region] = isCut;
    }

    /** Runs an action at the home of Redis, unless the line is cut. */
    void there(int region, Runnable action) {
        oneWay(region, action);
    }

    /** Runs an action in the region, unless the line is cut. */
    void back(int region, Runnable action) {
        oneWay(region, action);
    }

    private void oneWay(int region, Runnable action) {
        if (!cut[region]) {
            timeline.after(roundTrips[region] / 2, action);
        }
    }
}
