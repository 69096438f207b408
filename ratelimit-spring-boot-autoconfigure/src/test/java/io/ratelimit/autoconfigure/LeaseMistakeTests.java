package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.testing.LogRecorder;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;

/** What a limit with a lease, or without a rate, cannot have: blocks, and costs that change after the call. */
class LeaseMistakeTests {

    private static final String BLOCKED =
            " must be 0 with ratelimit.limits.sound.lease, whose permits are handed out without asking whether the key is"
                    + " blocked (was 10m).";

    private static final String LEASED =
            " must not be set for a limit with a lease, which charges permits before its calls (was ";

    private static final String HELD =
            " must not be set for the algorithm CONCURRENCY, whose permits are released when the call ends (was ";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withPropertyValues("ratelimit.limits.sound.rate=10/s", "ratelimit.limits.sound.lease=5");

    private void assertRefused(ApplicationContextRunner application, String problem, String fix) {
        application.run(context -> {
            assertThat(analysis(context).getDescription()).contains("What: " + problem);
            assertThat(analysis(context).getAction()).contains(fix);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "block-for=10m, ratelimit.limits.sound.block-for",
        "plans.gold.block-for=10m, ratelimit.limits.sound.plans.gold.block-for"
    })
    void leaseHandsOutPermitsOfABlockedKey(String property, String label) {
        assertRefused(
                runner.withPropertyValues("ratelimit.limits.sound." + property),
                label + BLOCKED,
                "Remove one of them, or set it to 0 for this limit.");
    }

    @Test
    void defaultCanBeSetAside() {
        ApplicationContextRunner blocking = runner.withPropertyValues("ratelimit.defaults.block-for=10m");
        assertRefused(
                blocking,
                "ratelimit.defaults.block-for" + BLOCKED,
                "For this limit alone, set ratelimit.limits.sound.block-for.");
        blocking.withPropertyValues("ratelimit.limits.sound.block-for=0")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void overrideCannotBlock() {
        runner.run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            RateLimitOverride override = RateLimitOverride.builder()
                    .blockFor(List.of(Duration.ofMinutes(10)))
                    .build();
            assertThatExceptionOfType(RateLimitConfigurationException.class)
                    .isThrownBy(() -> admin.override("sound", override))
                    .withMessageContaining("blockFor" + BLOCKED);
            assertThat(admin.status("sound").override()).isNull();
        });
    }

    @Test
    void costOfACallOfALeaseIsFinal() {
        ApplicationContextRunner unleased =
                LimitedContexts.inMemory().withPropertyValues("ratelimit.limits.sound.rate=10/s");
        assertRefused(
                runner.withBean(Settled.class),
                "permitsAfter" + LEASED + "\"#result\").",
                "Remove it, or set lease to 0 for this limit.");
        assertRefused(
                runner.withBean(Refunded.class),
                "refundOn" + LEASED + "java.io.IOException).",
                "Remove it, or set lease to 0 for this limit.");
        for (Class<?> type : new Class<?>[] {Settled.class, Refunded.class}) {
            unleased.withBean(type).run(context -> assertThat(context).hasNotFailed());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "permits-after=#result, '\"#result\").'",
        "refund-on=java.io.IOException, java.io.IOException).",
    })
    void propertyOfALeasedLimitIsRefusedWhereverItApplies(String property, String value) {
        String label = "ratelimit.limits.sound." + property.substring(0, property.indexOf('='));
        ApplicationContextRunner changed = runner.withPropertyValues("ratelimit.limits.sound." + property);
        assertRefused(changed, label + LEASED + value, "set lease to 0");
        assertRefused(
                changed.withPropertyValues("ratelimit.limits.sound.pointcut=execution(* io.ratelimit..Plain.*(..))")
                        .withBean(Plain.class),
                label + LEASED + value,
                "set lease to 0");
    }

    @Test
    void refreshAddsNoLeaseToALimitWhoseCostChanges() {
        LimitedContexts.inMemory()
                .withPropertyValues("ratelimit.limits.sound.rate=10/s")
                .withBean(Settled.class)
                .run(context -> {
                    try (LogRecorder log = new LogRecorder("io.ratelimit")) {
                        TestPropertyValues.of("ratelimit.limits.sound.lease=5")
                                .applyTo(context.getSourceApplicationContext());
                        context.publishEvent(new EnvironmentChangeEvent(context));
                        assertThat(log.text()).contains("permitsAfter" + LEASED);
                    }
                    assertThat(context.getBean(LimitCatalog.class).find("sound").map(RateLimit::lease))
                            .hasValue(0L);
                });
    }

    @Test
    void codeCannotChargeALeasedLimitBeyondItsCapacity() {
        runner.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("sound");
            assertThat(limiter.allCallers().tryAcquire().allowed()).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> limiter.allCallers().charge(5))
                    .withMessage(
                            "Limit 'sound' has a lease, whose permits are handed out in debt, too. Call tryAcquire or"
                                    + " acquire instead of charge, or set lease to 0");
            assertThat(limiter.allCallers().chargeAsync(5).toCompletableFuture())
                    .isCompletedExceptionally();
            assertThat(limiter.allCallers().peek().remaining()).isEqualTo(9);
        });
    }

    @Test
    void permitsThatACallHoldsAreNotRefundedByAFailure() {
        String fix = "Remove it, or add a second limit with a rate.";
        assertRefused(
                LimitedContexts.inMemory().withBean(Held.class), "refundOn" + HELD + "java.io.IOException).", fix);
        assertRefused(
                LimitedContexts.inMemory()
                        .withPropertyValues(
                                "ratelimit.limits.sound.algorithm=concurrency",
                                "ratelimit.limits.sound.capacity=2",
                                "ratelimit.limits.sound.refund-on=java.io.IOException"),
                "ratelimit.limits.sound.refund-on" + HELD + "java.io.IOException).",
                fix);
    }

    /** Of all limits, those that can refund. */
    @Test
    void defaultRefundsAreForTheOtherLimits() {
        String refunds = "ratelimit.defaults.refund-on=java.io.IOException";
        runner.withPropertyValues(refunds)
                .withBean(Plain.class)
                .withPropertyValues("ratelimit.limits.sound.pointcut=execution(* io.ratelimit..Plain.*(..))")
                .run(context -> assertThat(context).hasNotFailed());
        LimitedContexts.inMemory()
                .withPropertyValues(refunds, "ratelimit.limits.held.refund-on=")
                .withBean(Held.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    static class Settled {

        @RateLimited(name = "sound", permitsAfter = "#result")
        public int call() {
            return 1;
        }
    }

    static class Refunded {

        @RateLimited(name = "sound", refundOn = IOException.class)
        public void call() {}
    }

    static class Plain {

        public void call() {}
    }

    static class Held {

        @RateLimited(name = "held", algorithm = Algorithm.CONCURRENCY, capacity = 2, refundOn = IOException.class)
        public void call() {}
    }
}
