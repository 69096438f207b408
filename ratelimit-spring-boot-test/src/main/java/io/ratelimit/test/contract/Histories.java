package io.ratelimit.test.contract;

import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Plays random histories by a clock of its own, all of a test from one seed. */
final class Histories {

    private static final String SEED = "ratelimit.test.seed";

    private static final int EACH = Integer.getInteger("ratelimit.test.histories", 5);

    private static final long START =
            Instant.parse("2026-11-20T12:34:56.789012Z").toEpochMilli() * 1_000;

    private static final long WEEK = 604_800_000_000L;

    private final Class<?> test;

    private final AtomicLong clock = new AtomicLong(START);

    /** Keys of other tests and other runs are others, so a store need not be empty. */
    private final String keys = UUID.randomUUID() + "-";

    private int started;

    Histories(Class<?> test) {
        this.test = test;
    }

    long now() {
        return clock.get();
    }

    /** Returns a key that no other test uses. */
    String key(String suffix) {
        return keys + suffix;
    }

    /** Plays several histories of each subject, which all stores are asked alike. */
    <T> void play(List<T> subjects, List<StoreUnderTest> stores, Play<T> play) {
        long seed = seed();
        String repeat = "-D" + SEED + "=" + seed;
        System.out.println(test.getSimpleName() + ": " + repeat);
        Random random = new Random(seed);
        for (T subject : subjects) {
            for (int i = 0; i < EACH; i++) {
                clock.set(START + random.nextLong(WEEK));
                play.play(subject, random, new History(repeat, random, stores, clock, key("" + started++)));
            }
        }
    }

    private long seed() {
        String given = System.getProperty(SEED);
        if (given == null) {
            return test.getName().hashCode();
        }
        return given.equals("random") ? new SplittableRandom().nextLong() : Long.parseLong(given);
    }

    /**
     * One history.
     *
     * @param <T> what it is about
     */
    interface Play<T> {

        void play(T subject, Random random, History history);
    }
}
