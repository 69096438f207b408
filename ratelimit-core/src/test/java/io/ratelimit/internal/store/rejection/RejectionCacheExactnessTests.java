package io.ratelimit.internal.store.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Refill;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.internal.store.contract.RandomTrace;
import io.ratelimit.internal.store.contract.TraceStep;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is remembered is what the rules say. */
class RejectionCacheExactnessTests {

    @ParameterizedTest
    @CsvSource({
        "TOKEN_BUCKET, CONTINUOUS",
        "TOKEN_BUCKET, INTERVAL",
        "LEAKY_BUCKET, CONTINUOUS",
        "FIXED_WINDOW, CONTINUOUS",
        "SLIDING_WINDOW, CONTINUOUS",
        "SLIDING_WINDOW_LOG, CONTINUOUS"
    })
    void whatALargerCostHasToWaitIsExact(Algorithm algorithm, Refill refill) {
        RateLimit limit = RateLimit.named("larger")
                .algorithm(algorithm)
                .refill(refill)
                .capacity(10)
                .rate(refill == Refill.INTERVAL ? "3/3s" : "10/10s")
                .build();
        TestClock clock = new TestClock();
        int[] asked = new int[1];
        RateLimitStore exact = new DelegatingRateLimitStore(new InMemoryRateLimitStore(clock, 100)) {
            @Override
            public StoreAnswer decide(StoreRequest request) {
                asked[0] += request.isPeek() ? 0 : 1;
                return super.decide(request);
            }
        };
        RateLimitStore remembers =
                new RejectionCachingRateLimitStore(exact, () -> {}, new RejectionCache(() -> clock.micros() * 1_000));
        for (int i = 0; i < 8; i++) {
            remembers.decide(new Charge(limit, "alice", 1)).await();
            clock.advance(7_001);
        }
        for (int permits : new int[] {3, 4, 6, 10}) {
            Charge larger = new Charge(limit, "alice", permits);
            assertThat(remembers.decide(larger).await().decision())
                    .as("%d permits", permits)
                    .isEqualTo(exact.decide(StoreRequest.peek(larger)).await().decision());
            clock.advance(7_001);
        }
        assertThat(asked[0]).isEqualTo(12);
    }

    @Test
    void rejectsWhatTheRulesDoAndNothingElse() {
        Random random = TestRandom.create(getClass());
        RandomLimits limits = new RandomLimits(random);
        int[] asked = new int[1];
        int decided = 0;
        for (int number = 0; number < 500; number++) {
            TestClock clock = new TestClock();
            RateLimitStore store = new DelegatingRateLimitStore(new InMemoryRateLimitStore(clock, 1_000)) {
                @Override
                public StoreAnswer decide(StoreRequest request) {
                    asked[0] += request.isPeek() ? 0 : 1;
                    return super.decide(request);
                }
            };
            RateLimitStore remembers = new RejectionCachingRateLimitStore(
                    store, () -> {}, new RejectionCache(() -> clock.micros() * 1_000));
            for (TraceStep step : RandomTrace.draw(random, draw(limits, random, number))) {
                clock.set(step.now());
                decided++;
                assertThat(outcome(
                                step.charges(),
                                remembers
                                        .decide(StoreRequest.of(step.charges()))
                                        .await()
                                        .decisions()))
                        .as(step::toString)
                        .isEqualTo(outcome(step.charges(), step.expected()));
            }
        }
        assertThat(decided - asked[0]).as("remembered").isGreaterThan(decided / 30);
    }

    private static List<RateLimit> draw(RandomLimits limits, Random random, int number) {
        return IntStream.range(0, 1 + random.nextInt(2))
                .mapToObj(i -> limits.next("limit" + number + "-" + i))
                .map(limit -> random.nextInt(4) > 0 ? limit : TestLimits.dryRun(limit))
                .toList();
    }

    /** Whether the call may go on, and what each limit in dry run has counted. */
    private static List<Boolean> outcome(List<Charge> charges, List<RateLimitDecision> decisions) {
        boolean rejected =
                StoreOutcome.isRejected(charges, i -> decisions.get(i).allowed());
        return IntStream.range(0, charges.size())
                .mapToObj(
                        i -> charges.get(i).limit().dryRun() ? decisions.get(i).allowed() : !rejected)
                .toList();
    }
}
