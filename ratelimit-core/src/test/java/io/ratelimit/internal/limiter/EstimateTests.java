package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.standalone.RateLimiters;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that enter with an estimate, which their cost replaces. */
class EstimateTests {

    private final RateLimiterRegistry registry = RateLimiters.inMemory(
            RateLimit.named("tokens").rate("100/d").build(),
            RateLimit.named("daily").rate("1000/d").build(),
            RateLimit.named("requests").rate("10/d").build(),
            RateLimit.named("calls")
                    .algorithm(Algorithm.CONCURRENCY)
                    .capacity(2)
                    .build(),
            RateLimit.named("leased").rate("100/d").lease(10).build(),
            RateLimit.named("off").rate("100/d").enabled(false).build());

    private enum Way {
        BLOCKING {
            @Override
            RateLimiter.Entry enter(RateLimiterRegistry registry, PermitRequest... requests) {
                return registry.enterAll(List.of(requests));
            }
        },
        ASYNC {
            @Override
            RateLimiter.Entry enter(RateLimiterRegistry registry, PermitRequest... requests) {
                try {
                    return registry.enterAllAsync(List.of(requests))
                            .toCompletableFuture()
                            .join();
                } catch (CompletionException ex) {
                    throw (RuntimeException) ex.getCause();
                }
            }
        };

        abstract RateLimiter.Entry enter(RateLimiterRegistry registry, PermitRequest... requests);
    }

    @ParameterizedTest
    @EnumSource
    void costReplacesTheEstimate(Way way) {
        RateLimiter.Entry entry = way.enter(registry, new PermitRequest("tokens", "alice", 40).asEstimate());
        assertThat(left("tokens")).isEqualTo(60);
        entry.settle("Tokens", 15);
        assertThat(left("tokens")).isEqualTo(85);
        way.enter(registry, new PermitRequest("tokens", "alice", 40).asEstimate())
                .settle("tokens", 90);
        assertThat(left("tokens")).isZero();
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> way.enter(registry, new PermitRequest("tokens", "alice", 1).asEstimate()))
                .satisfies(rejection ->
                        assertThat(rejection.getDecision().retryAfter()).isBetween(minutes(80), minutes(87)));
    }

    @ParameterizedTest
    @EnumSource
    void onlyTheFirstCostCountsAlsoAfterTheEnd(Way way) {
        RateLimiter.Entry entry = way.enter(registry, new PermitRequest("tokens", "alice", 40).asEstimate());
        entry.close();
        assertThat(left("tokens")).isEqualTo(60);
        entry.settle("tokens", 10);
        entry.settle("tokens", 0);
        entry.settle("tokens", 100);
        assertThat(left("tokens")).isEqualTo(90);
    }

    @ParameterizedTest
    @EnumSource
    void severalLimitsOfOneCallHaveTheirOwnCosts(Way way) {
        RateLimiter.Entry entry = way.enter(
                registry,
                new PermitRequest("requests", "alice"),
                new PermitRequest("tokens", "alice", 40).asEstimate(),
                PermitRequest.forAllCallers("daily", 40).asEstimate(),
                new PermitRequest("calls", "alice"));
        assertThat(left("calls")).isEqualTo(1);
        entry.settle("tokens", 10);
        assertThat(List.of(left("requests"), left("tokens"), all("daily"))).containsExactly(9L, 90L, 960L);
        entry.settle("daily", 60);
        assertThat(all("daily")).isEqualTo(940);
        assertThat(left("calls")).isEqualTo(1);
        entry.close();
        assertThat(left("calls")).isEqualTo(2);
        assertThat(left("requests")).isEqualTo(9);
    }

    @ParameterizedTest
    @EnumSource
    void twoKeysOfOneLimitAreSettledTogether(Way way) {
        way.enter(
                        registry,
                        new PermitRequest("tokens", "alice", 40).asEstimate(),
                        PermitRequest.forAllCallers("tokens", 20).asEstimate())
                .settle("tokens", 5);
        assertThat(left("tokens")).isEqualTo(95);
        assertThat(all("tokens")).isEqualTo(95);
    }

    @ParameterizedTest
    @EnumSource
    void estimateOfZeroIsOne(Way way) {
        way.enter(registry, new PermitRequest("tokens", "alice", 0).asEstimate());
        assertThat(left("tokens")).isEqualTo(99);
    }

    @ParameterizedTest
    @EnumSource
    void disabledLimitIsNotSettled(Way way) {
        RateLimiter.Entry entry = way.enter(
                registry,
                new PermitRequest("off", "alice", 40).asEstimate(),
                new PermitRequest("tokens", "alice", 40).asEstimate());
        entry.settle("off", 200);
        entry.settle("tokens", 1);
        assertThat(left("tokens")).isEqualTo(99);
        way.enter(registry, new PermitRequest("off", "alice", 40).asEstimate()).settle("off", 200);
    }

    @ParameterizedTest
    @EnumSource
    void mistakesChangeNothing(Way way) {
        RateLimiter.Entry entry = way.enter(
                registry,
                new PermitRequest("tokens", "alice", 40).asEstimate(),
                new PermitRequest("requests", "alice"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> entry.settle("requests", 1))
                .withMessage("Limit 'requests': the call must have an estimate for it");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> entry.settle("tokens", -1))
                .withMessage("Limit 'tokens': permits must be from 0 to 1000000000 (was -1)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> entry.settle("tokens", 1_000_000_001))
                .withMessage("Limit 'tokens': permits must be from 0 to 1000000000 (was 1000000001)");
        assertThatIllegalStateException()
                .isThrownBy(() -> way.enter(registry, new PermitRequest("calls", "alice").asEstimate()))
                .withMessageStartingWith("Limit 'calls' has the algorithm CONCURRENCY");
        assertThatIllegalStateException()
                .isThrownBy(() -> way.enter(registry, new PermitRequest("leased", "alice").asEstimate()))
                .withMessageStartingWith("Limit 'leased' has a lease");
        assertThat(List.of(left("tokens"), left("calls"), left("leased"))).containsExactly(60L, 2L, 100L);
    }

    @ParameterizedTest
    @EnumSource
    void costWithoutAnEstimateIsAMistakeWhateverIsLimited(Way way) {
        for (RateLimiter.Entry entry : List.of(
                way.enter(registry, new PermitRequest("off", "alice", 40).asEstimate()),
                way.enter(registry, new PermitRequest("requests", "alice")),
                registry.get("requests").enter("alice"),
                registry.get("off").enter("alice"))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> entry.settle("typo", 1))
                    .withMessage("Limit 'typo': the call must have an estimate for it");
        }
    }

    @Test
    void estimateThatNothingWouldSettleIsRefused() {
        List<PermitRequest> requests = List.of(new PermitRequest("tokens", "alice", 40).asEstimate());
        assertThatIllegalStateException()
                .isThrownBy(() -> registry.tryAcquireAll(requests))
                .withMessage("Limit 'tokens': an estimate must be settled. Call enterAll instead of tryAcquireAll or"
                        + " acquireAll");
        assertThatIllegalStateException().isThrownBy(() -> registry.acquireAll(requests));
        assertThat(registry.tryAcquireAllAsync(requests)).isCompletedExceptionally();
        assertThat(registry.acquireAllAsync(requests)).isCompletedExceptionally();
        assertThat(left("tokens")).isEqualTo(100);
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsSettledWhereNothingIsLimited(Way way) {
        assertThatNoException().isThrownBy(() -> {
            RateLimiter.Entry entry =
                    way.enter(new UnlimitedRateLimiterRegistry(), new PermitRequest("any", "alice", 40).asEstimate());
            entry.settle("any", 3);
            entry.close();
        });
    }

    private long left(String limit) {
        return registry.get(limit).peek("alice").remaining();
    }

    private long all(String limit) {
        return registry.get(limit).allCallers().peek().remaining();
    }

    /** The rate is 100 permits a day. */
    private static Duration minutes(long minutes) {
        return Duration.ofMinutes(minutes);
    }
}
