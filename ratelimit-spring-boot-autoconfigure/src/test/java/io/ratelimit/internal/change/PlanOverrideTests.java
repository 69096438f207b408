package io.ratelimit.internal.change;

import static io.ratelimit.internal.change.OverriddenInstance.QUOTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitConflictException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.RateLimiter;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Overrides of single plans, which two instances share. */
class PlanOverrideTests {

    private static final RedisServer redis = RedisServer.loadingAtOnce();

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final RateLimitOverride FIFTY =
            RateLimitOverride.builder().capacity(50).build();

    private final String prefix = "plans-" + System.nanoTime();

    private final OverriddenInstance first = instance();

    private final OverriddenInstance second = instance();

    private OverriddenInstance instance() {
        return new OverriddenInstance(
                redis.port(),
                prefix,
                "ratelimit.limits.quotes.plans.pro-plan.rate=100/h",
                "ratelimit.limits.quotes.plans.free.capacity=5");
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    @AfterAll
    static void stopRedis() {
        redis.close();
    }

    private static RateLimit plan(OverriddenInstance instance, String plan) {
        return instance.admin().forPlan(plan).status(QUOTES).effective();
    }

    @Test
    void overrideOfAPlanAppliesEverywhereToThisPlanAlone() {
        RateLimitStatus status = first.admin().as("alice").forPlan("pro_plan").override(QUOTES, FIFTY);
        assertThat(status.effective()).hasToString("TOKEN_BUCKET, capacity 50 at 100/h, plan pro-plan");
        assertThat(status.override().principal()).isEqualTo("alice");
        await().atMost(SOON).until(() -> plan(second, "pro-plan").capacity() == 50);
        assertThat(plan(second, "free").capacity()).isEqualTo(5);
        assertThat(second.limit().capacity()).isEqualTo(10);
        try (OverriddenInstance withoutPlans = new OverriddenInstance(redis.port(), prefix)) {
            assertThat(withoutPlans.limit().capacity()).isEqualTo(10);
            withoutPlans
                    .admin()
                    .override(QUOTES, RateLimitOverride.builder().rate("20/h").build());
            await().atMost(SOON).until(() -> second.limit().rate().permits() == 20);
            assertThat(plan(second, "pro-plan")).hasToString("TOKEN_BUCKET, capacity 50 at 100/h, plan pro-plan");
            assertThat(plan(second, "free")).hasToString("TOKEN_BUCKET, capacity 5 at 20/h, plan free");
            withoutPlans.admin().removeOverride(QUOTES);
        }
        second.admin().forPlan("pro-plan").removeOverride(QUOTES);
        await().atMost(SOON).until(() -> plan(first, "pro-plan").capacity() == 100);
        assertThat(redis.send("EXISTS", prefix + ":%overrides")).isEqualTo(0L);
        await().untilAsserted(() -> assertThat(first.events())
                .extracting(RateLimitChangedEvent::change)
                .containsSubsequence("plan proplan: capacity 50", "rate 20/h", "plan proplan"));
    }

    @Test
    void rememberedRejectionOfThePlanBeforeDoesNotHoldAfterAnUpgrade() {
        RateLimiter free = first.limiter().withPlan("free");
        assertThat(free.tryAcquire("alice", 5).allowed()).isTrue();
        assertThat(free.tryAcquire("alice").allowed()).isFalse();
        redis.send("DEL", bucketOf("alice"));
        assertThat(free.tryAcquire("alice").allowed()).as("remembered").isFalse();
        assertThat(first.limiter().withPlan("pro-plan").tryAcquire("alice").allowed())
                .isTrue();
        assertThat(free.tryAcquire("bob", 5).allowed()).isTrue();
        assertThat(free.tryAcquire("bob").allowed()).isFalse();
        second.admin().forPlan("free").override(QUOTES, FIFTY);
        await().atMost(SOON).until(() -> free.tryAcquire("bob").allowed());
        assertThat(free.peek("bob").capacity()).isEqualTo(50);
    }

    private String bucketOf(String key) {
        Object keys = redis.send("KEYS", prefix + ":*" + key + "*");
        return (String) ((List<?>) keys).get(0);
    }

    @Test
    void statusSaysWhereTheNumbersOfAPlanComeFrom() {
        first.admin().override(QUOTES, RateLimitOverride.builder().dryRun(true).build());
        first.admin().forPlan("free").override(QUOTES, FIFTY);
        RateLimitStatus free = first.admin().status(QUOTES).plans().get("free");
        assertThat(free.configured().capacity()).isEqualTo(5);
        assertThat(free.effective().capacity()).isEqualTo(50);
        assertThat(free.effective().dryRun()).isTrue();
        assertThat(free.origins().get("capacity").source()).isEqualTo(Source.OVERRIDE);
        assertThat(free.origins().get("dryRun").source()).isEqualTo(Source.OVERRIDE);
        assertThat(free.origins().get("rate").place()).contains("ratelimit.limits.quotes.rate");
        RateLimitStatus pro = first.admin().status(QUOTES).plans().get("pro-plan");
        assertThat(pro.origins().get("rate").place()).contains("ratelimit.limits.quotes.plans.pro-plan.rate");
        assertThat(pro.override()).isNull();
        assertThat(first.admin().status(QUOTES).override().attributes().capacity())
                .isNull();
    }

    @Test
    void statusSaysThatAPlanInheritsTheOverriddenCapacity() {
        first.admin().override(QUOTES, RateLimitOverride.builder().capacity(20L).build());
        RateLimitStatus pro = first.admin().status(QUOTES).plans().get("pro-plan");
        assertThat(pro.effective().capacity()).isEqualTo(20);
        assertThat(pro.origins().get("capacity").source()).isEqualTo(Source.OVERRIDE);
        assertThat(pro.origins().get("rate").place()).contains("ratelimit.limits.quotes.plans.pro-plan.rate");
    }

    @Test
    void statusSaysThatTheCapacityFollowsTheOverriddenRate() {
        RateLimitOverride faster = RateLimitOverride.builder().rate("20/h").build();
        RateLimitStatus limit = first.admin().override(QUOTES, faster);
        assertThat(limit.origins().get("capacity").source()).isEqualTo(Source.OVERRIDE);
        RateLimitStatus pro = limit.plans().get("pro-plan");
        assertThat(pro.effective().capacity()).isEqualTo(100);
        assertThat(pro.origins().get("capacity").place()).contains("ratelimit.limits.quotes.plans.pro-plan.rate");
        RateLimitStatus free = limit.plans().get("free");
        assertThat(free.origins().get("rate").source()).isEqualTo(Source.OVERRIDE);
        assertThat(free.origins().get("capacity").place()).contains("ratelimit.limits.quotes.plans.free.capacity");
    }

    @Test
    void versionsOfALimitAndItsPlansDiffer() {
        RateLimitAdmin free = first.admin().forPlan("free");
        long version = free.override(QUOTES, FIFTY, 0).version();
        first.admin().override(QUOTES, FIFTY, 0);
        assertThatExceptionOfType(RateLimitConflictException.class).isThrownBy(() -> free.override(QUOTES, FIFTY, 0));
        assertThat(free.override(QUOTES, FIFTY, version).version()).isGreaterThan(version);
    }

    @Test
    void mistakeChangesNothing() {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> first.admin()
                        .forPlan("free")
                        .override(
                                QUOTES, RateLimitOverride.builder().capacity(-1).build()))
                .withMessageContaining("override of limit 'quotes', plan 'free': capacity must be from 1 to");
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(() -> first.admin()
                        .forPlan("free")
                        .override(
                                QUOTES,
                                RateLimitOverride.builder()
                                        .onStoreFailure(OnStoreFailure.ALLOW)
                                        .build()))
                .withMessageContaining("onStoreFailure must not be set for a plan (was ALLOW).");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> first.admin().forPlan("fre").status(QUOTES))
                .withMessage("Limit 'quotes' has no plan 'fre'; did you mean 'free'?");
        assertThat(redis.send("EXISTS", prefix + ":%overrides")).isEqualTo(0L);
    }

    @Test
    void bucketIsShownByTheNumbersOfAPlan() {
        first.limiter().tryAcquire("alice", 4);
        assertThat(first.admin()
                        .forPlan("free")
                        .bucket(QUOTES, "alice")
                        .inspect()
                        .remaining())
                .isEqualTo(1);
        assertThat(first.admin()
                        .forPlan("pro-plan")
                        .bucket(QUOTES, "alice")
                        .inspect()
                        .remaining())
                .isEqualTo(96);
        assertThat(first.admin().bucket(QUOTES, "alice").inspect().remaining()).isEqualTo(6);
    }
}
