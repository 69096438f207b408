package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A key changes plans again and again, and two instances learn of it at different times. Each call is decided exactly by the plan
 * that its instance knows, and every plan counts what is admitted by any of them.
 */
@BothTiers
public abstract class PlanContract extends ModelledRulesContract {

    private static final int HISTORIES = TestRandom.cases(20);

    private static final int CALLS = 120;

    private static RateLimit limit(LimitKind kind, String name) {
        return kind.limit(name, 10, "10/m");
    }

    @ParameterizedTest
    @EnumSource
    void callsAreDecidedByThePlanOfTheirTimeAndCountedByAll(LimitKind kind) {
        for (int number = 0; number < HISTORIES; number++) {
            RateLimit limit = limit(kind, "plans" + number);
            play(List.of(
                    limit,
                    limit.definition()
                            .with(RateLimitPlan.named("free").capacity(5).rate("5/20s")),
                    limit.definition()
                            .with(RateLimitPlan.named("trial")
                                    .capacity(1 + random.nextInt(8))
                                    .rate("1/10s"))));
        }
    }

    private void play(List<RateLimit> limits) {
        List<ModelledRule> plans = begin(limits);
        ModelledRule[] known = {plans.get(0), plans.get(0)};
        ModelledRule current = plans.get(0);
        while (calls() < CALLS) {
            callByEachIfUnused(plans);
            current = random.nextInt(8) == 0 ? plans.get(random.nextInt(plans.size())) : current;
            int instance = random.nextInt(known.length);
            known[instance] = random.nextInt(3) == 0 ? current : known[instance];
            call(known[instance], plans);
        }
    }

    @ParameterizedTest
    @EnumSource
    void upgradeLeavesWhatTheLargerPlanHasMoreAndADowngradeNothing(LimitKind kind) {
        RateLimit limit = limit(kind, "upgraded");
        RateLimit free =
                limit.definition().with(RateLimitPlan.named("free").capacity(5).rate("5/m"));
        assertThat(take(free, 5).allowed()).isTrue();
        assertThat(remaining(limit)).isEqualTo(5);
        assertThat(take(limit, 5).allowed()).isTrue();
        assertThat(remaining(limit)).isZero();
        assertThat(remaining(free)).isZero();
        assertThat(remaining(limit)).isZero();
    }
}
