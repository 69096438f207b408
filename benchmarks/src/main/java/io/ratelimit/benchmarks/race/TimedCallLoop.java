package io.ratelimit.benchmarks.race;

import java.util.SplittableRandom;
import org.HdrHistogram.Histogram;
import org.openjdk.jmh.infra.Blackhole;

/** The loop for calls that take long enough to time each of them. */
final class TimedCallLoop implements CallLoop {

    @Override
    public Tally run(
            Contestant contestant, Keys keys, boolean allowed, Turn turn, Blackhole sink, SplittableRandom random) {
        Histogram latencies = Latencies.start();
        long right = 0;
        long wrong = 0;
        long start = System.nanoTime();
        long last = start;
        while (!turn.over) {
            boolean isRight;
            try {
                isRight = contestant.call(keys.draw(random), sink) == allowed;
            } catch (RuntimeException failure) {
                isRight = false;
            }
            long now = System.nanoTime();
            latencies.recordValue(now - last);
            last = now;
            if (isRight) {
                right++;
            } else {
                wrong++;
            }
        }
        return Tally.of(right, wrong, last - start, latencies);
    }
}
