package io.ratelimit.benchmarks.regions;

/** How many calls a second each region makes, by the time. Their sum is that of the limit's rate, times the load. */
enum Demand {
    EVEN("a third from each region") {
        @Override
        double share(int region, double time) {
            return 1 / 3.0;
        }
    },

    SKEWED("80 %, 15 % and 5 %") {
        @Override
        double share(int region, double time) {
            return region == 0 ? 0.8 : region == 1 ? 0.15 : 0.05;
        }
    },

    /** A region is at work for a third of the time, as in a day that is shortened to a minute. */
    MOVING("one region after the other, for 20 s each") {
        @Override
        double share(int region, double time) {
            return (int) (time / 20) % 3 == region ? 0.9 : 0.05;
        }
    },

    /** A second with five times as many calls, then four without. */
    BURSTS("each region for a second in five, five times as many") {
        @Override
        double share(int region, double time) {
            return (int) (time + region * 5 / 3.0) % 5 == 0 ? 5 / 3.0 : 0;
        }
    };

    private final String description;

    Demand(String description) {
        this.description = description;
    }

    String description() {
        return description;
    }

    /** Returns a region's share of the calls at a time. */
    abstract double share(int region, double time);

    /** The largest share at any time. */
    double largestShare() {
        return 2;
    }
}
