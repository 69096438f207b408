package io.ratelimit.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.TestLimits;
import java.util.concurrent.ConcurrentHashMap;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Test;

/** Runs calls for one bucket in every order that the model checker finds, and compares them with calls in turn. */
class BucketModelCheckingTests {

    private static final long NOW = 1_000_000;

    private static final RateLimit LIMIT = TestLimits.tokenBucket("m", 3, "1/h");

    private static final KnownLimit KNOWN = KnownLimit.of(LIMIT, new ConcurrentHashMap<>());

    @Test
    void callsForOneBucketAreDecidedAsIfInTurn() {
        new ModelCheckingOptions()
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .iterations(5)
                .invocationsPerIteration(200)
                .check(OneBucket.class);
    }

    public static class OneBucket {

        private final Bucket bucket = new Bucket(KNOWN, "k", new Assessment(KNOWN, null, NOW, 1).next(true));

        @Operation
        public long take() {
            RateLimitDecision decision = bucket.decide(KNOWN, 1, NOW);
            return decision.allowed() ? decision.remaining() : -1;
        }

        @Operation
        public long takeTwo() {
            RateLimitDecision decision = bucket.decide(KNOWN, 2, NOW);
            return decision.allowed() ? decision.remaining() : -1;
        }
    }
}
