package io.ratelimit.benchmarks.race;

import java.util.SplittableRandom;
import org.openjdk.jmh.infra.Blackhole;

/** The loop that {@link CallLoops} copies. */
final class PlainCallLoop implements CallLoop {

    @Override
    public Tally run(
            Contestant contestant, Keys keys, boolean allowed, Turn turn, Blackhole sink, SplittableRandom random) {
        long right = 0;
        long wrong = 0;
        long start = System.nanoTime();
        while (!turn.over) {
            try {
                if (contestant.call(keys.draw(random), sink) == allowed) {
                    right++;
                } else {
                    wrong++;
                }
            } catch (RuntimeException failure) {
                wrong++;
            }
        }
        return Tally.of(right, wrong, System.nanoTime() - start, null);
    }
}
