package io.ratelimit.metrics;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class CallMetricsTests {

    private final ApplicationContextRunner runner =
            LimitedContexts.inMemory().withBean(SimpleMeterRegistry.class).withBean(Quotes.class);

    @ParameterizedTest
    @ValueSource(strings = {"allowed", "rejected", "dry_run_rejected", "refused"})
    void countersExistFromTheStart(String outcome) {
        runner.run(context ->
                assertThat(count(context.getBean(MeterRegistry.class), outcome)).isZero());
    }

    @Test
    void severalRegistriesAreAllTold() {
        SimpleMeterRegistry one = new SimpleMeterRegistry();
        SimpleMeterRegistry other = new SimpleMeterRegistry();
        LimitedContexts.inMemory()
                .withBean("one", SimpleMeterRegistry.class, () -> one)
                .withBean("other", SimpleMeterRegistry.class, () -> other)
                .withBean(Quotes.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(one.find("ratelimit.calls").counters()).hasSize(4);
                    assertThat(other.find("ratelimit.calls").counters()).hasSize(4);
                });
    }

    @Test
    void countersOfLimitsWithoutAMethodExistFromTheStart() {
        runner.withPropertyValues("ratelimit.limits.exports.rate=1/s")
                .run(context -> assertThat(context.getBean(MeterRegistry.class)
                                .get("ratelimit.calls")
                                .tag("limit", "exports")
                                .counters())
                        .hasSize(4));
    }

    @Test
    void callsAreCountedByOutcome() {
        runner.run(context -> {
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            quotes.quote("bob");
            assertRejected("quotes", () -> quotes.quote("alice"));
            assertThat(count(meters, "allowed")).isEqualTo(2);
            assertThat(count(meters, "rejected")).isEqualTo(1);
            assertThat(count(meters, "dry_run_rejected")).isZero();
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"ratelimit.dry-run=true", "ratelimit.limits.quotes.dry-run=true"})
    void dryRunCountsWhatWouldBeRejected(String dryRun) {
        runner.withPropertyValues(dryRun).run(context -> {
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            quotes.quote("alice");
            assertThat(count(meters, "allowed")).isEqualTo(1);
            assertThat(count(meters, "dry_run_rejected")).isEqualTo(1);
            assertThat(count(meters, "rejected")).isZero();
        });
    }

    @Test
    void limitersAreCountedLikeMethods() {
        runner.run(context -> {
            context.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire("alice");
            context.getBean(RateLimiterRegistry.class).get("quotes").peek("alice");
            assertThat(count(context.getBean(MeterRegistry.class), "allowed")).isEqualTo(1);
        });
    }

    @Test
    void keyIsNeverATag() {
        runner.run(context -> {
            context.getBean(Quotes.class).quote("0xSECRET");
            assertThat(context.getBean(MeterRegistry.class).getMeters())
                    .isNotEmpty()
                    .flatExtracting(meter -> meter.getId().getTags())
                    .extracting(Tag::getKey)
                    .containsOnly("limit", "outcome", "store");
            assertThat(context.getBean(MeterRegistry.class).getMeters())
                    .extracting(Meter::getId)
                    .extracting(Meter.Id::toString)
                    .noneMatch(id -> id.contains("SECRET"));
        });
    }

    private static double count(MeterRegistry meters, String outcome) {
        return meters.get("ratelimit.calls")
                .tag("limit", "quotes")
                .tag("outcome", outcome)
                .counter()
                .count();
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s", keyExpression = "#user")
        public void quote(String user) {}
    }
}
