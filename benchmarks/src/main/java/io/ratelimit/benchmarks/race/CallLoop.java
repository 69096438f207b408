package io.ratelimit.benchmarks.race;

import java.util.SplittableRandom;
import org.openjdk.jmh.infra.Blackhole;

/** Calls a contestant until the turn is over. Each contestant has a loop of its own: see {@link CallLoops}. */
interface CallLoop {

    /**
     * Plays one thread's part of a turn.
     *
     * @param allowed what every call should be told
     */
    Tally run(Contestant contestant, Keys keys, boolean allowed, Turn turn, Blackhole sink, SplittableRandom random);
}
