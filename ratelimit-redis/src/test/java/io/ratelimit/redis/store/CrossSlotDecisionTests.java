package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.LimitDefinition;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.redis.ClusterSlot;
import io.ratelimit.redis.DisturbedCluster;
import io.ratelimit.redis.FakeTimeScriptExecutor;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What befalls a call between its look into all slots and its last charge. */
class CrossSlotDecisionTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final TestClock clock = new TestClock();

    private final RateLimitScriptExecutor executor = new FakeTimeScriptExecutor(redis.connections(), clock);

    private final DisturbedCluster cluster = new DisturbedCluster(executor);

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore store = TestStores.over(cluster, prefix);

    private final RateLimitStore others = TestStores.over(executor, prefix);

    /** In the order in which their slots are charged. */
    private List<Charge> charges(RateLimit limit) {
        BucketNaming names = new BucketNaming(prefix);
        return Stream.of("alice", "bob", "carol")
                .sorted(Comparator.comparingInt(key -> ClusterSlot.of(names.name(limit, key))))
                .map(key -> new Charge(limit, key, 4))
                .toList();
    }

    private List<Charge> withDryRun(List<Charge> charges) {
        RateLimit trial = TestLimits.dryRun(TestLimits.tokenBucket("trial", 10, "10/h"));
        return Stream.concat(charges.stream(), Stream.of(new Charge(trial, "dave", 1)))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void whatOthersTookAfterTheLookIsTheirsAndTheRestIsRefunded(LimitKind kind) {
        for (int slot = 1; slot <= 3; slot++) {
            List<Charge> charges = charges(kind.limit("limit" + slot, 10, "10/h"));
            Charge contested = charges.get(slot - 1);
            cluster.beforeCharge(
                    slot,
                    () -> others.decide(StoreRequest.of(List.of(new Charge(contested.limit(), contested.key(), 7))))
                            .await()
                            .decisions());
            List<RateLimitDecision> decisions =
                    store.decide(StoreRequest.of(withDryRun(charges))).await().decisions();
            for (int i = 0; i < charges.size(); i++) {
                RateLimitDecision decision = decisions.get(i);
                RateLimitDecision now =
                        others.decide(StoreRequest.peek(charges.get(i))).await().decision();
                assertThat(decision.allowed()).isEqualTo(i != slot - 1);
                assertThat(decision)
                        .usingRecursiveComparison()
                        .ignoringFields("delay")
                        .isEqualTo(now);
                assertThat(now.remaining()).isEqualTo(i == slot - 1 ? 3 : 10);
                assertThat(now.resetAfter().isZero()).isEqualTo(i != slot - 1);
            }
            assertThat(decisions.get(3).remaining()).isEqualTo(10L - slot);
        }
    }

    @ParameterizedTest
    @EnumSource
    void whereALaterSlotFailsTheEarlierAreRefunded(LimitKind kind) {
        for (int slot = 1; slot <= 3; slot++) {
            List<Charge> charges = charges(kind.limit("limit" + slot, 10, "10/h"));
            cluster.beforeCharge(slot, () -> {
                throw new IllegalStateException("a node is gone");
            });
            assertThatThrownBy(
                            () -> store.decide(StoreRequest.of(charges)).await().decisions())
                    .isInstanceOf(RateLimitStoreException.class)
                    .hasMessageContaining("a node is gone");
            assertThat(charges).allSatisfy(charge -> {
                RateLimitDecision now =
                        others.decide(StoreRequest.peek(charge)).await().decision();
                assertThat(now.remaining()).isEqualTo(10);
                assertThat(now.resetAfter()).isEqualTo(Duration.ZERO);
            });
            assertThat(redis.commands().keys(prefix + "*")).isEmpty();
            assertThat(store.decide(StoreRequest.of(charges)).await().decisions())
                    .allMatch(RateLimitDecision::allowed);
            charges.forEach(charge -> store.change(charge.limit(), charge.key(), BucketChange.RESET)
                    .toCompletableFuture()
                    .join());
        }
    }

    @ParameterizedTest
    @EnumSource
    void slotOfADryRunThatFailsHasNoSay(LimitKind kind) {
        List<Charge> charges = charges(kind.limit("limit", 4, "4/h"));
        for (boolean fits : new boolean[] {true, false}) {
            cluster.beforeCharge(fits ? 4 : 1, () -> {
                throw new IllegalStateException("a node is gone");
            });
            List<RateLimitDecision> decisions =
                    store.decide(StoreRequest.of(withDryRun(charges))).await().decisions();
            assertThat(decisions.subList(0, 3)).allMatch(decision -> decision.allowed() == fits);
            assertThat(decisions.get(3)).isEqualTo(RateLimitDecision.unlimited(10));
            assertThat(charges)
                    .allMatch(charge -> others.decide(StoreRequest.peek(charge))
                                    .await()
                                    .decision()
                                    .remaining()
                            == 0);
        }
    }

    /**
     * Whichever slot comes first: while another one can still reject the call, its charge would be the violation of other calls, even
     * if they have another plan.
     */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void slotThatBlocksDecidesLast(boolean lowerSlotBlocks, boolean otherPlan) {
        List<Charge> charges = new ArrayList<>(blocking(lowerSlotBlocks));
        if (otherPlan) {
            Charge blocking = charges.get(0);
            RateLimit free = blocking.limit().with(RateLimitPlan.named("free").blockFor(Duration.ZERO));
            charges.set(0, new Charge(free, blocking.key(), 1));
        }
        assertThat(leftBeforeTheLastCharge(charges))
                .as("of the limit that blocks, and the other")
                .containsExactly(1L, 0L);
    }

    private List<Long> leftBeforeTheLastCharge(List<Charge> charges) {
        AtomicReference<List<Long>> left = new AtomicReference<>();
        cluster.beforeCharge(
                2,
                () -> left.set(charges.stream()
                        .map(charge -> others.decide(StoreRequest.peek(charge))
                                .await()
                                .decision()
                                .remaining())
                        .toList()));
        assertThat(store.decide(StoreRequest.of(charges)).await().isRejected()).isFalse();
        return left.get();
    }

    /** A plan of code blocks keys, and calls with other plans cannot know. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "true, true", "false, true"})
    void slotOfALimitWithPlansOfCodeDecidesLast(boolean lowerSlotBlocks, boolean onlyExpression) {
        LimitDefinition limit = RateLimit.named("blocking").rate("1/h").build().definition();
        AttributeValues values =
                onlyExpression ? limit.values().with(LimitAttributes.PLAN_EXPRESSION, "#plan") : limit.values();
        Map<String, RateLimitPlan> plans = onlyExpression
                ? Map.of()
                : Map.of("free", RateLimitPlan.named("free").capacity(1));
        RateLimit planned = limit.configure(
                        values,
                        LimitConfiguration.of("blocking").with(plans),
                        AttributeValues.NONE,
                        (own, counted) -> own)
                .build();
        List<Charge> charges = new ArrayList<>(blocking(lowerSlotBlocks));
        charges.set(0, new Charge(planned, charges.get(0).key(), 1));
        assertThat(leftBeforeTheLastCharge(charges)).containsExactly(1L, 0L);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callWithKeysInSeveralSlotsBlocksAKey(boolean lowerSlotBlocks) {
        List<Charge> charges = blocking(lowerSlotBlocks);
        Charge blocking = charges.get(0);
        others.decide(blocking).await();
        StoreOutcome rejected = store.decide(StoreRequest.of(charges)).await();
        assertThat(rejected.decisions()).extracting(RateLimitDecision::allowed).containsExactly(false, true);
        assertThat(rejected.decisions().get(0).retryAfter()).isEqualTo(Duration.ofHours(5));
        assertThat(others.decide(StoreRequest.peek(charges.get(1)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(1);
        clock.advance(Duration.ofHours(4));
        assertThat(others.decide(blocking).await().decision().retryAfter()).isEqualTo(Duration.ofHours(1));
    }

    /** Returns a charge of a limit that blocks keys, and one in another slot. */
    private List<Charge> blocking(boolean lowerSlot) {
        BucketNaming names = new BucketNaming(prefix);
        RateLimit blocking = RateLimit.named("blocking")
                .rate("1/h")
                .blockFor(Duration.ofHours(5))
                .build();
        RateLimit other = RateLimit.named("other").rate("1/h").build();
        List<String> keys = Stream.of("alice", "bob")
                .sorted(Comparator.comparingInt(key -> ClusterSlot.of(names.name(blocking, key))))
                .toList();
        return List.of(
                new Charge(blocking, keys.get(lowerSlot ? 0 : 1), 1),
                new Charge(other, keys.get(lowerSlot ? 1 : 0), 1));
    }
}
