package io.ratelimit.metrics;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The meter {@code ratelimit.calls} by the plan of the caller. */
class PlanTagTests {

    private final ApplicationContextRunner untagged = LimitedContexts.inMemory()
            .withBean(SimpleMeterRegistry.class)
            .withBean(Quotes.class, Quotes::new)
            .withPropertyValues(
                    "ratelimit.limits.quotes.plans.pro.capacity=5", "ratelimit.limits.quotes.plans.trial.dry-run=true");

    private final ApplicationContextRunner tagged = untagged.withPropertyValues("ratelimit.metrics.plan-tag=true");

    @Test
    void configuredPlansAreThereFromTheStart() {
        tagged.run(context -> assertThat(context.getBean(MeterRegistry.class)
                        .get("ratelimit.calls")
                        .counters())
                .hasSize(3 * 4)
                .allMatch(counter -> counter.count() == 0)
                .extracting(counter -> counter.getId().getTag("plan"))
                .contains("none", "pro", "trial"));
    }

    @Test
    void callsAreCountedByTheirPlan() {
        tagged.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice", "PRO");
            quotes.quote("alice", RateLimitPlan.named("pro").capacity(7));
            quotes.quote("bob", null);
            assertRejected("quotes", () -> quotes.quote("bob", "unknown"));
            quotes.quote("bob", "trial");
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(count(meters, "pro", "allowed")).isEqualTo(2);
            assertThat(count(meters, "none", "allowed")).isEqualTo(1);
            assertThat(count(meters, "none", "rejected")).isEqualTo(1);
            assertThat(count(meters, "trial", "dry_run_rejected")).isEqualTo(1);
        });
    }

    @Test
    void plansOfCodeAreBounded() {
        tagged.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            for (int plan = 0; plan < PlanCalls.MOST_OF_CODE + 3; plan++) {
                quotes.quote(
                        "user" + plan, RateLimitPlan.named("contract-" + plan).capacity(9));
            }
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertThat(count(meters, "contract-0", "allowed")).isEqualTo(1);
            assertThat(count(meters, "other", "allowed")).isEqualTo(3);
            assertThat(meters.get("ratelimit.calls").counters().stream()
                            .map(counter -> counter.getId().getTag("plan"))
                            .distinct())
                    .hasSize(PlanCalls.MOST_OF_CODE + 4);
        });
    }

    @Test
    void withoutThePropertyAllPlansAreCountedTogether() {
        untagged.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice", "pro");
            quotes.quote("bob", null);
            assertThat(context.getBean(MeterRegistry.class)
                            .get("ratelimit.calls")
                            .counters())
                    .hasSize(4)
                    .allMatch(counter -> Objects.isNull(counter.getId().getTag("plan")))
                    .extracting(Counter::count)
                    .contains(2.0);
        });
    }

    private static double count(MeterRegistry meters, String plan, String outcome) {
        return meters.get("ratelimit.calls")
                .tags("limit", "quotes", "plan", plan, "outcome", outcome)
                .counter()
                .count();
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/h", keyExpression = "#user", planExpression = "#plan")
        public void quote(String user, Object plan) {}
    }
}
