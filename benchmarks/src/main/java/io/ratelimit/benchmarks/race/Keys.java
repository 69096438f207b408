package io.ratelimit.benchmarks.race;

import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Whose buckets are asked for, drawn at random. */
public final class Keys {

    private final String[] keys;

    public Keys(int count) {
        this.keys = IntStream.range(0, count).mapToObj(i -> "user-" + i).toArray(String[]::new);
    }

    String draw(SplittableRandom random) {
        return keys.length == 1 ? keys[0] : keys[random.nextInt(keys.length)];
    }

    /** Every key once. */
    public String[] all() {
        return keys.clone();
    }
}
