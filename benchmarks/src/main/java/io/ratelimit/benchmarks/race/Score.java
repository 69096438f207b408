package io.ratelimit.benchmarks.race;

import io.ratelimit.benchmarks.redis.RedisLoad;

/**
 * What a turn came to.
 *
 * @param allocated bytes, by all threads
 * @param redis what Redis did meanwhile
 */
record Score(Tally tally, int threads, long allocated, RedisLoad redis) {

    double perNano() {
        return tally.perNano();
    }

    /** Time for a call of one thread. */
    double nanos() {
        return tally.perNano() == 0 ? 0 : threads / tally.perNano();
    }

    double perSecond() {
        return tally.perNano() * 1e9;
    }

    double allocatedPerCall() {
        return perCall((double) allocated);
    }

    double scripts() {
        return perCall((double) redis.scripts());
    }

    double scriptMicros() {
        return perCall((double) redis.scriptMicros());
    }

    double cpuMicros() {
        return perCall((double) redis.cpuMicros());
    }

    double wrong() {
        return (double) tally.wrong() / Math.max(1, tally.right() + tally.wrong());
    }

    private double perCall(double sum) {
        return sum / Math.max(1, tally.right());
    }
}
