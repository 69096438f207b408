package io.ratelimit.internal.limiter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.RateLimiterRegistry.JointDecision;
import io.ratelimit.RateLimiterRegistry.PermitRequest;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.RecordingWaiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Several limits, asked at once through the registry. */
class JointRequestTests {

    private final LimitCatalog catalog = new LimitCatalog(
            TestSettings.of(
                    false,
                    OnStoreFailure.LOCAL,
                    Map.of(
                            "off", overrides("off", false, null),
                            "offtoo", overrides("off-too", false, null),
                            "trial", overrides("trial", null, true))),
            null,
            () -> false);

    private final StubStore stub = new StubStore();

    private final RecordingWaiter waiter = new RecordingWaiter();

    private final List<String> heard = new ArrayList<>();

    private final RateLimiterRegistry registry = registry(new InMemoryRateLimitStore(new TestClock(), 100));

    private final RateLimiterRegistry stubbed = registry(stub);

    /** How several limits are asked. */
    private enum Way {
        BLOCKING {
            @Override
            JointDecision ask(RateLimiterRegistry registry, List<PermitRequest> requests) {
                return registry.tryAcquireAll(requests);
            }
        },
        ASYNC {
            @Override
            JointDecision ask(RateLimiterRegistry registry, List<PermitRequest> requests) {
                try {
                    return stage(registry, requests).toCompletableFuture().join();
                } catch (CompletionException ex) {
                    throw ex.getCause() instanceof RuntimeException cause ? cause : ex;
                }
            }

            private CompletionStage<JointDecision> stage(RateLimiterRegistry registry, List<PermitRequest> requests) {
                try {
                    return registry.tryAcquireAllAsync(requests);
                } catch (RuntimeException ex) {
                    throw new AssertionError("Thrown, not completed with", ex);
                }
            }
        },
        WAITING {
            @Override
            JointDecision ask(RateLimiterRegistry registry, List<PermitRequest> requests) {
                try {
                    registry.acquireAll(requests);
                    return new JointDecision(RateLimitDecision.unlimited(1), List.of());
                } catch (RateLimitExceededException rejection) {
                    return new JointDecision(rejection.getDecision(), rejection.getLimitNames());
                }
            }
        },
        WAITING_ASYNC {
            @Override
            JointDecision ask(RateLimiterRegistry registry, List<PermitRequest> requests) {
                CompletableFuture<Void> acquired =
                        registry.acquireAllAsync(requests).toCompletableFuture();
                if (!acquired.isCompletedExceptionally()) {
                    return new JointDecision(RateLimitDecision.unlimited(1), List.of());
                }
                Throwable failure = acquired.handle((done, thrown) -> thrown).join();
                if (failure instanceof RateLimitExceededException rejection) {
                    return new JointDecision(rejection.getDecision(), rejection.getLimitNames());
                }
                throw (RuntimeException) failure;
            }
        };

        abstract JointDecision ask(RateLimiterRegistry registry, List<PermitRequest> requests);
    }

    @ParameterizedTest
    @EnumSource
    void allAreChargedOrNone(Way way) {
        List<PermitRequest> requests =
                List.of(new PermitRequest("small", "alice"), new PermitRequest("big", "acme", 2));
        assertThat(way.ask(registry, requests).allowed()).isTrue();
        JointDecision rejected = way.ask(registry, requests);
        assertThat(rejected.rejectedBy()).containsExactly("small");
        assertThat(rejected.tightest().retryAfter()).isEqualTo(Duration.ofHours(1));
        assertThat(registry.get("big").peek("acme").remaining()).isEqualTo(3);
        assertThat(heard).containsExactly("small ALLOWED", "big ALLOWED", "small REJECTED");
    }

    @ParameterizedTest
    @EnumSource
    void storeIsAskedOnceForAll(Way way) {
        stub.answer(yes(5), yes(4));
        assertThat(way.ask(stubbed, List.of(new PermitRequest("Small", "alice"), new PermitRequest("big", "acme", 2)))
                        .allowed())
                .isTrue();
        assertThat(stub.asked()).containsExactly(List.of(charge("small", "alice", 1), charge("big", "acme", 2)));
    }

    @Test
    void answerIsTheTightest() {
        stub.answer(yes(5), yes(4));
        List<PermitRequest> requests = List.of(new PermitRequest("small", "alice"), new PermitRequest("big", "acme"));
        assertThat(stubbed.tryAcquireAll(requests).tightest()).isEqualTo(yes(4));
        stub.answer(no(5), no(6));
        assertThat(stubbed.tryAcquireAll(requests)).isEqualTo(new JointDecision(no(6), List.of("big", "small")));
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(() -> stubbed.acquireAll(requests))
                .withMessage("Rate limit 'big', 'small' exceeded");
    }

    @Test
    void onlyAcquireWaitsAndOnceForTheLongest() {
        stub.answer(delayed(5), delayed(6));
        List<PermitRequest> requests = List.of(new PermitRequest("small", "alice"), new PermitRequest("big", "acme"));
        assertThat(stubbed.tryAcquireAll(requests).tightest().delay()).isEqualTo(Duration.ofNanos(6_000));
        stubbed.tryAcquireAllAsync(requests).toCompletableFuture().join();
        assertThat(waiter.delays()).isEmpty();
        stubbed.acquireAll(requests);
        assertThat(waiter.delays()).containsExactly(Duration.ofNanos(6_000));
        stubbed.acquireAllAsync(requests).toCompletableFuture().join();
        assertThat(waiter.delays()).hasSize(2);
    }

    @ParameterizedTest
    @EnumSource
    void disabledLimitTakesNoPart(Way way) {
        stub.answer(yes(5));
        JointDecision decision =
                way.ask(stubbed, List.of(new PermitRequest("off", "alice"), new PermitRequest("big", "alice")));
        assertThat(decision.allowed()).isTrue();
        assertThat(stub.asked()).containsExactly(List.of(charge("big", "alice", 1)));
        stub.fail(new IllegalStateException("asked for nothing"));
        assertThat(way.ask(stubbed, List.of(new PermitRequest("off", "alice", 9)))
                        .allowed())
                .isTrue();
        assertThat(stubbed.tryAcquireAll(
                                List.of(new PermitRequest("off-too", "alice"), new PermitRequest("off", "alice", 9)))
                        .tightest())
                .isEqualTo(RateLimitDecision.unlimited(2));
    }

    @ParameterizedTest
    @EnumSource
    void dryRunNeitherRejectsNorDelays(Way way) {
        stub.answer(no(-1), yes(5));
        assertThat(way.ask(stubbed, List.of(new PermitRequest("trial", "alice"), new PermitRequest("big", "alice")))
                        .allowed())
                .isTrue();
        stub.answer(delayed(6), yes(5));
        way.ask(stubbed, List.of(new PermitRequest("trial", "alice"), new PermitRequest("big", "alice")));
        assertThat(waiter.delays()).isEmpty();
        assertThat(heard).containsExactly("trial DRY_RUN_REJECTED", "big ALLOWED", "trial ALLOWED", "big ALLOWED");
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakeIsRefusedBeforeAnythingIsCharged(List<PermitRequest> requests, String message) {
        for (Way way : Way.values()) {
            assertThat(catchThrowable(() -> way.ask(stubbed, requests)))
                    .as("%s", way)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(message);
        }
        assertThat(stub.asked()).isEmpty();
    }

    static Stream<Object[]> mistakes() {
        PermitRequest fine = new PermitRequest("big", "alice");
        return Stream.of(
                mistake("requests must not be empty"),
                mistake("Limit 'small': key must not be null or empty", fine, new PermitRequest("small", "")),
                mistake("Limit 'small': key must not be null or empty", fine, new PermitRequest("small", null)),
                mistake("Limit 'small': permits must not be negative", fine, new PermitRequest("small", "alice", -1)),
                mistake("no limit 'smal'; did you mean 'small'?", fine, new PermitRequest("smal", "alice")),
                mistake(
                        "Limit 'big': requests must not name the same key twice",
                        fine,
                        new PermitRequest("BIG", "alice", 3)),
                mistake(
                        "Limit 'big': requests must not name the same key twice",
                        PermitRequest.forAllCallers("big"),
                        PermitRequest.forAllCallers("BIG")),
                mistake("Limit 'off': key", fine, new PermitRequest("off", null)),
                mistake("Limit 'off': key", fine, new PermitRequest("off", "")));
    }

    private static Object[] mistake(String message, PermitRequest... requests) {
        return new Object[] {Arrays.asList(requests), message};
    }

    @ParameterizedTest
    @EnumSource
    void requestForAllCallersHasNoKey(Way way) {
        stub.answer(yes(5), yes(4), yes(3));
        way.ask(
                stubbed,
                List.of(
                        PermitRequest.forAllCallers("small"),
                        PermitRequest.forAllCallers("big", 2),
                        new PermitRequest("big", "alice", 3)));
        assertThat(stub.asked())
                .containsExactly(List.of(charge("small", null, 1), charge("big", null, 2), charge("big", "alice", 3)));
    }

    @Test
    void twoKeysOfOneLimitAreTwoBuckets() {
        stub.answer(yes(5), yes(4));
        assertThat(stubbed.tryAcquireAll(List.of(new PermitRequest("big", "alice"), new PermitRequest("big", "bob")))
                        .allowed())
                .isTrue();
    }

    @Test
    void whereNothingIsLimitedEverythingIsAllowed() {
        for (Way way : Way.values()) {
            assertThat(way.ask(
                                    new UnlimitedRateLimiterRegistry(),
                                    List.of(new PermitRequest("any", "alice", 1_000_000)))
                            .allowed())
                    .isTrue();
        }
    }

    private RateLimiterRegistry registry(RateLimitStore store) {
        for (RateLimit limit : List.of(
                TestLimits.tokenBucket("small", 1, "1/h"),
                TestLimits.tokenBucket("big", 5, "1/h"),
                TestLimits.tokenBucket("off", 2, "1/h"),
                TestLimits.tokenBucket("off-too", 7, "1/h"),
                TestLimits.tokenBucket("trial", 2, "1/h"))) {
            catalog.declare(limit, "test");
        }
        RateLimitListener listener =
                (charge, decision, outcome) -> heard.add(charge.limit().name() + " " + outcome);
        CatalogRateLimiterRegistry made =
                new CatalogRateLimiterRegistry(catalog, new RateLimitGate(store, listener, waiter));
        made.complete();
        return made;
    }

    private Charge charge(String limit, String key, long permits) {
        return new Charge(catalog.find(limit).orElseThrow(), key, permits);
    }

    private static RateLimitDecision yes(long remaining) {
        return RateLimitDecision.ofMicros(10, remaining, 0, 0, 100);
    }

    private static RateLimitDecision delayed(long micros) {
        return RateLimitDecision.ofMicros(10, 0, micros, 0, 100);
    }

    private static RateLimitDecision no(long retryMicros) {
        return RateLimitDecision.ofMicros(10, 0, 0, retryMicros, 100);
    }

    private static LimitConfiguration overrides(String name, Boolean enabled, Boolean dryRun) {
        return LimitConfiguration.of(name)
                .with(LimitAttributes.ENABLED, enabled)
                .with(LimitAttributes.DRY_RUN, dryRun);
    }
}
