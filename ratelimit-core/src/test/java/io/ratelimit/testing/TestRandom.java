package io.ratelimit.testing;

import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Randomness of the tests, and how much of it they try. Seeds are the same in every build, unless
 * {@code -Dratelimit.test.seed=…} gives one or says {@code random}. A test prints its seed, so that a failed run can be
 * repeated.
 */
public final class TestRandom {

    private static final String SEED = "ratelimit.test.seed";

    /** In percent of what the nightly build tries. */
    private static final double SCALE = Double.parseDouble(System.getProperty("ratelimit.test.scale", "0.5"));

    private static final Map<String, Integer> CREATED = new ConcurrentHashMap<>();

    private TestRandom() {}

    public static Random create(Class<?> test) {
        long seed = seed(test);
        System.out.println(test.getSimpleName() + ": -D" + SEED + "=" + seed);
        return new Random(seed);
    }

    private static long seed(Class<?> test) {
        String given = System.getProperty(SEED);
        if (given == null) {
            return ownSeed(test);
        }
        return given.equals("random") ? new SplittableRandom().nextLong() : Long.parseLong(given);
    }

    /** Another one for each class, wherever it is moved to, and for each of its tests. */
    private static long ownSeed(Class<?> test) {
        String name = test.getName().substring(test.getPackageName().length() + 1);
        int number = CREATED.merge(name, 1, Integer::sum);
        return new SplittableRandom(31L * name.hashCode() + number).nextLong();
    }

    /** How many cases of a random test to try, where the nightly build tries so many. */
    public static int cases(int nightly) {
        return (int) Math.max(1, nightly * SCALE / 100);
    }

    /** From the range, each order of magnitude as likely as the next. */
    public static long logarithmic(Random random, long least, long most) {
        double exponent = random.nextDouble(Math.log((double) least), Math.log(most + 1.0));
        return Math.min(most, Math.max(least, (long) Math.exp(exponent)));
    }
}
