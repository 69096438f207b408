package io.ratelimit.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(180)
class InMemoryConcurrencyTests {

    private static final int THREADS = 8;

    private static final int CALLS = 20_000;

    private final RateLimitStore store = new InMemoryRateLimitStore(TimeSource.monotonic(), 1_000);

    private final RateLimit many = TestLimits.tokenBucket("many", 50_000, "1/h");

    private final RateLimit few = TestLimits.fixedWindow("few", 30_000, "30000/h");

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONCURRENCY")
    void threadsOnOneBucketTakeExactlyItsCapacity(Algorithm algorithm) throws Exception {
        RateLimit limit = RateLimit.named("hot")
                .algorithm(algorithm)
                .capacity(10_000)
                .rate("1/h")
                .build();
        assertThat(ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> takeAll(limit)))
                .isEqualTo(10_000);
    }

    @Test
    void limitsInOppositeOrderNeitherBlockEachOtherNorMiscount() throws Exception {
        long allowed = ParallelCalls.countAllowed(
                THREADS, CALLS, thread -> () -> thread % 2 == 0 ? takeAll(many, few) : takeAll(few, many));
        assertThat(allowed).isEqualTo(30_000);
        assertThat(remaining(many)).isEqualTo(20_000);
        assertThat(remaining(few)).isZero();
    }

    @Test
    void callsWithOneLimitAndWithSeveralShareTheBucket() throws Exception {
        AtomicInteger together = new AtomicInteger();
        long allowed = ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> {
            if (thread % 2 == 0) {
                return takeAll(many);
            }
            boolean taken = takeAll(many, few);
            together.addAndGet(taken ? 1 : 0);
            return taken;
        });
        assertThat(allowed).isEqualTo(50_000);
        assertThat(remaining(few)).isEqualTo(30_000 - together.get());
    }

    @Test
    void whatIsRefundedMeanwhileIsThereForOthersExactlyOnce() throws Exception {
        long kept = ParallelCalls.countAllowed(THREADS, CALLS, thread -> () -> {
            if (thread % 2 == 0) {
                return takeAll(many);
            }
            takeAndRefund(many);
            return false;
        });
        assertThat(remaining(many)).isEqualTo(50_000 - kept);
    }

    private void takeAndRefund(RateLimit limit) {
        List<Charge> charge = List.of(new Charge(limit, "key", 1));
        store.decide(StoreRequest.refundable(charge))
                .toStage()
                .thenCompose(decided -> decided.refund().refund(charge))
                .toCompletableFuture()
                .join();
    }

    private boolean takeAll(RateLimit... limits) {
        return store
                .decide(StoreRequest.of(List.of(limits).stream()
                        .map(limit -> new Charge(limit, "key", 1))
                        .toList()))
                .await()
                .decisions()
                .stream()
                .allMatch(RateLimitDecision::allowed);
    }

    private long remaining(RateLimit limit) {
        return store.decide(StoreRequest.peek(new Charge(limit, "key", 0)))
                .await()
                .decision()
                .remaining();
    }
}
