package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.testing.LogRecorder;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Limits with calendar windows, as applications declare and change them. */
class CalendarLimitTests {

    private static final String QUOTA = "ratelimit.limits.quota.";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withPropertyValues(
                    QUOTA + "algorithm=fixed-window", QUOTA + "rate=100/month", QUOTA + "zone=Europe/Berlin");

    @Test
    void zoneIsThatOfTheLimitOrOfAllLimits() {
        runner.withPropertyValues(
                        "ratelimit.defaults.zone=Asia/Tokyo",
                        "ratelimit.limits.other.algorithm=fixed-window",
                        "ratelimit.limits.other.rate=100/day")
                .run(context -> {
                    RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                    RateLimit quota = admin.status("quota").effective();
                    assertThat(quota.zone()).isEqualTo(ZoneId.of("Europe/Berlin"));
                    assertThat(quota).hasToString("FIXED_WINDOW, capacity 100 at 100/month in Europe/Berlin");
                    assertThat(admin.status("quota").origins().get("zone").source())
                            .isEqualTo(Source.CONFIGURATION);
                    assertThat(admin.status("other").effective().zone()).isEqualTo(ZoneId.of("Asia/Tokyo"));
                });
    }

    /** As in a test profile with another rate. */
    @Test
    void zoneWithoutACalendarRateIsLogged() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            runner.withPropertyValues(QUOTA + "rate=100/s").run(context -> {
                RateLimit quota =
                        context.getBean(RateLimitAdmin.class).status("quota").effective();
                assertThat(quota).hasToString("FIXED_WINDOW, capacity 100 at 100/s");
            });
            assertThat(log.lines())
                    .contains(
                            "Rate limit 'quota': ratelimit.limits.quota.zone has no effect, because FIXED_WINDOW, capacity"
                                    + " 100 at 100/s has no calendar unit in its rate (was Europe/Berlin)");
        }
    }

    @ParameterizedTest
    @CsvSource({"token-bucket, 100/s, TOKEN_BUCKET", "concurrency, , CONCURRENCY"})
    void algorithmWithoutCalendarWindowsHasNoZone(String algorithm, String rate, String name) {
        LimitedContexts.inMemory()
                .withPropertyValues(
                        QUOTA + "algorithm=" + algorithm, QUOTA + "capacity=10", QUOTA + "zone=Europe/Berlin")
                .withPropertyValues(rate == null ? new String[0] : new String[] {QUOTA + "rate=" + rate})
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.quota.zone must not be set for " + name
                                + ", because only windows of FIXED_WINDOW are calendar units (was Europe/Berlin)."));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimit.limits.quota.rate=5/day", "ratelimit.limits.quota.plans.pro.rate=100/month"})
    void zoneThatMayHaveAnEffectIsNotLogged(String property) {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            // A zone of all limits is for those that need one.
            LimitedContexts.inMemory()
                    .withPropertyValues("ratelimit.defaults.zone=Asia/Tokyo", "ratelimit.limits.other.rate=100/s")
                    .run(context -> assertThat(context).hasNotFailed());
            runner.withPropertyValues(QUOTA + "plans.pro.rate=10/s", property)
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.text()).contains("'other'").doesNotContain("has no effect");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "rate=10/2month | ratelimit.limits.quota.rate must have a single calendar unit as its period (was \"10/2month\").",
                "algorithm=token-bucket | ratelimit.limits.quota.rate must have a duration as its period for TOKEN_BUCKET, because only"
                        + " windows of FIXED_WINDOW are calendar units (was 100/month).",
                "capacity=50 | ratelimit.limits.quota.capacity must be the number in the rate 100/month, because a window is one"
                        + " month (was 50).",
                "zone=Europe/Berln | ratelimit.limits.quota.zone must be a time zone (was \"Europe/Berln\").",
                "max-wait=1s | ratelimit.limits.quota.max-wait must be 0 for FIXED_WINDOW, which cannot reserve permits (was 1s).",
                "refill=interval | ratelimit.limits.quota.refill must be CONTINUOUS for FIXED_WINDOW (was INTERVAL).",
                "lease=101 | ratelimit.limits.quota.lease must be from 0 to the capacity 100 (was 101).",
                "rate=2000000000/year | capacity must be from 1 to 1000000000 for FIXED_WINDOW at the rate"
                        + " 2000000000/year (was 2000000000, the number in the rate)."
            })
    void mistakeStopsTheStartUp(String property, String problem) {
        runner.withPropertyValues(QUOTA + property)
                .run(context -> assertThat(analysis(context).getDescription()).contains(problem));
    }

    @Test
    void annotationNeedsTheAlgorithm() {
        LimitedContexts.inMemory()
                .withBean(Monthly.class)
                .run(context -> assertThat(analysis(context).getAction())
                        .contains("Use FIXED_WINDOW, or a duration: \"100/31d\"."));
    }

    @Test
    void closestZoneIsSuggested() {
        runner.withPropertyValues(QUOTA + "zone=Europe/Berln")
                .run(context -> assertThat(analysis(context).getAction()).contains("Did you mean Europe/Berlin?"));
    }

    @Test
    void rateCanBeOverriddenAndConsumptionIsKept() {
        runner.run(context -> {
            RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
            RateLimiter quota = context.getBean(RateLimiterRegistry.class).get("quota");
            assertThat(quota.tryAcquire("alice", 90).remaining()).isEqualTo(10);
            admin.override(
                    "quota", RateLimitOverride.builder().rate("200/month").build());
            assertThat(quota.peek("alice").remaining()).isEqualTo(110);
            assertThatExceptionOfType(RateLimitConfigurationException.class)
                    .isThrownBy(() -> admin.override(
                            "quota", RateLimitOverride.builder().capacity(300).build()))
                    .withMessageContaining("capacity must be the number in the rate");
            admin.override("quota", RateLimitOverride.builder().rate("20/s").build());
            assertThat(quota.tryAcquire("alice", 1).allowed()).isFalse();
            admin.removeOverride("quota");
            assertThat(quota.peek("alice").remaining()).isEqualTo(10);
        });
    }

    /** Three instances may use a third each while Redis is away. */
    @ParameterizedTest
    @CsvSource({"100/month, 33/month in Europe/Berlin", "2/year, 1/549d"})
    void shareOfAnInstanceIsOfTheSameUnit(String rate, String share) {
        RateLimit limit = RateLimit.named("quota")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate(rate)
                .zone(ZoneId.of("Europe/Berlin"))
                .build();
        assertThat(new LocalShare(3).of(limit, 0).toString()).endsWith(" at " + share);
    }

    static class Monthly {

        @RateLimited(rate = "100/month")
        public void call() {}
    }
}
