package io.ratelimit;

import java.util.Random;
import java.util.SplittableRandom;

/** Randomness that a failed run names and a next run can repeat: {@code -Dratelimit.test.seed=…}. */
public final class TestRandom {

    private static final String PROPERTY = "ratelimit.test.seed";

    private TestRandom() {}

    public static Random create(Class<?> test) {
        long seed = Long.getLong(PROPERTY, new SplittableRandom().nextLong());
        System.out.println(test.getSimpleName() + ": -D" + PROPERTY + "=" + seed);
        return new Random(seed);
    }

    /** From the range, each order of magnitude as likely as the next. */
    public static long logarithmic(Random random, long least, long most) {
        double exponent = random.nextDouble(Math.log((double) least), Math.log(most + 1.0));
        return Math.min(most, Math.max(least, (long) Math.exp(exponent)));
    }
}
