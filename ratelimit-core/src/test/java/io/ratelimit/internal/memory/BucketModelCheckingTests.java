package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** Runs calls for the buckets of the store in every order of their steps that the model checker finds. */
@LongRunning
class BucketModelCheckingTests {

    private static final long NOW = 1_000_000;

    private static final RateLimit LIMIT = TestLimits.tokenBucket("m", 3, "1/h");

    private static final CompiledLimit KNOWN = CompiledLimit.of(LIMIT, table());

    private static final int ORDERS = 150;

    @Test
    void callsForOneBucketAreDecidedAsIfInTurn() {
        new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(3)
                .invocationsPerIteration(150)
                .check(OneBucket.class);
    }

    public static class OneBucket {

        private final Bucket bucket = used(KNOWN, "k");

        @Operation
        public long take() {
            return remaining(bucket.decide(KNOWN, 1, NOW));
        }

        /** As a call with several limits holds it. */
        @Operation
        public long takeTwoHolding() {
            return remaining(bucket.hold(self -> {
                Assessment assessment = new Assessment(KNOWN, bucket.read(), NOW, 2);
                bucket.write(assessment.next(assessment.fits()));
                return assessment.decision(assessment.fits());
            }));
        }

        private static long remaining(RateLimitDecision decision) {
            return decision.allowed() ? decision.remaining() : -1;
        }
    }

    @Test
    void bucketThatIsUsedIsNotForgottenByWhatWasSeenBefore() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            Bucket bucket = used(KNOWN, "k");
            boolean[] forgotten = new boolean[1];
            RateLimitDecision[] decision = new RateLimitDecision[1];
            inParallel(
                    () -> {
                        Bucket.Snapshot seen = bucket.snapshot();
                        forgotten[0] = seen != null
                                && ((CounterState) seen.state().own().usage()).used() == 1
                                && seen.forget();
                    },
                    () -> decision[0] = bucket.decide(KNOWN, 1, NOW));
            if (forgotten[0] != (decision[0] == null)) {
                throw new AssertionError("forgotten: " + forgotten[0] + ", decision: " + decision[0]);
            }
        });
    }

    @Test
    void placeOfABucketThatIsResetWhileItIsAddedIsNotLost() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            BucketTable table = table();
            CompiledLimit limit = CompiledLimit.of(LIMIT, table);
            inParallel(() -> table.add(used(limit, "a"), NOW), () -> table.remove(limit, "a"));
            assertRoomForOne(table, limit);
        });
    }

    @Test
    void placeIsNotGivenTwiceWhereABucketIsResetWhileItIsEvicted() {
        Lincheck.runConcurrentTest(ORDERS, () -> {
            BucketTable table = table();
            CompiledLimit limit = CompiledLimit.of(LIMIT, table);
            table.add(used(limit, "a"), NOW);
            inParallel(() -> table.add(used(limit, "b"), NOW), () -> table.remove(limit, "a"));
            assertRoomForOne(table, limit);
        });
    }

    private static void assertRoomForOne(BucketTable table, CompiledLimit limit) {
        for (String key : new String[] {"c", "d"}) {
            table.add(used(limit, key), NOW);
            if (table.get(limit, key) == null || table.size() != 1) {
                throw new AssertionError("After " + key + " there are " + table.size() + " buckets");
            }
        }
    }

    private static void inParallel(Runnable one, Runnable other) {
        Thread first = new Thread(one);
        Thread second = new Thread(other);
        first.start();
        second.start();
        try {
            first.join();
            second.join();
        } catch (InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    private static BucketTable table() {
        return new BucketTable(1, (limit, state, clock) -> new EvictionPriority(1, 1), () -> {}, bound -> 0);
    }

    private static Bucket used(CompiledLimit limit, String key) {
        return new Bucket(limit, key, new Assessment(limit, null, NOW, 1).next(true));
    }
}
