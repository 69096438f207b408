package io.ratelimit.benchmarks.race;

import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Whose buckets are asked for, drawn at random. */
public final class Keys {

    /** The key of a workload that has one. It is in no other, so that a contestant may treat it as what it is. */
    public static final String HOT = "hot";

    private final String[] keys;

    public Keys(int count) {
        this.keys = count <= 1
                ? new String[] {HOT}
                : IntStream.range(0, count).mapToObj(i -> "user-" + i).toArray(String[]::new);
    }

    String draw(SplittableRandom random) {
        return keys.length == 1 ? keys[0] : keys[random.nextInt(keys.length)];
    }

    /** Every key once. */
    public String[] all() {
        return keys.clone();
    }
}
