package io.ratelimit.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitPlan;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A key changes plans again and again, and two instances learn of it at different times. Each call is decided exactly by the plan
 * that its instance knows, and every plan counts what is admitted by any of them.
 */
public abstract class PlanContract extends StoreContract {

    private static final int HISTORIES = TestRandom.cases(20);

    private static final int CALLS = 120;

    private final Random random = TestRandom.create(getClass());

    private final List<String> history = new ArrayList<>();

    private static RateLimit limit(LimitKind kind, String name) {
        return kind.limit(name, 10, "10/m");
    }

    @ParameterizedTest
    @EnumSource
    void callsAreDecidedByThePlanOfTheirTimeAndCountedByAll(LimitKind kind) {
        for (int number = 0; number < HISTORIES; number++) {
            RateLimit limit = limit(kind, "plans" + number);
            List<Plan> plans = Stream.of(
                            limit,
                            limit.with(RateLimitPlan.named("free").capacity(5).rate("5/20s")),
                            limit.with(RateLimitPlan.named("trial")
                                    .capacity(1 + random.nextInt(8))
                                    .rate("1/10s")))
                    .map(Plan::new)
                    .toList();
            play(plans);
        }
    }

    private void play(List<Plan> plans) {
        history.clear();
        Plan[] known = {plans.get(0), plans.get(0)};
        Plan current = plans.get(0);
        while (history.size() < CALLS) {
            // A plan that is new to a bucket adopts what it finds. In the same microsecond that is the same by every
            // plan.
            if (plans.stream().allMatch(Plan::isUnused)) {
                plans.forEach(plan -> plan.call(1, plans));
            }
            current = random.nextInt(8) == 0 ? plans.get(random.nextInt(plans.size())) : current;
            int instance = random.nextInt(known.length);
            known[instance] = random.nextInt(3) == 0 ? current : known[instance];
            RateLimitDecision decision =
                    known[instance].call(random.nextLong(known[instance].limit.capacity() + 1), plans);
            clock.advance(Math.max(0, step(decision)));
        }
    }

    private long step(RateLimitDecision decision) {
        long retry = decision.retryAfter() == null ? 0 : TestClock.inMicros(decision.retryAfter());
        return switch (random.nextInt(8)) {
            case 0, 1 -> 0;
            case 2 -> retry;
            case 3 -> retry - 1;
            case 4 -> random.nextLong(TestClock.inMicros(decision.resetAfter()) + 1);
            case 5 -> random.nextLong(20 * SECOND);
            default -> random.nextLong(4 * SECOND);
        };
    }

    @ParameterizedTest
    @EnumSource
    void upgradeLeavesWhatTheLargerPlanHasMoreAndADowngradeNothing(LimitKind kind) {
        RateLimit limit = limit(kind, "upgraded");
        RateLimit free = limit.with(RateLimitPlan.named("free").capacity(5).rate("5/m"));
        assertThat(take(free, 5).allowed()).isTrue();
        assertThat(remaining(limit)).isEqualTo(5);
        assertThat(take(limit, 5).allowed()).isTrue();
        assertThat(remaining(limit)).isZero();
        assertThat(remaining(free)).isZero();
        assertThat(remaining(limit)).isZero();
    }

    /** The limit of a plan, and the model of it. */
    private final class Plan {

        private final RateLimit limit;

        private final ReferenceStore model = new ReferenceStore(clock);

        private Plan(RateLimit limit) {
            this.limit = limit;
        }

        boolean isUnused() {
            return model.peek(new Charge(limit, KEY, 0)).resetAfter().isZero();
        }

        RateLimitDecision call(long permits, List<Plan> all) {
            Charge charge = new Charge(limit, KEY, permits);
            RateLimitDecision expected = model.decide(StoreRequest.of(charge)).decision();
            if (expected.allowed() && permits > 0) {
                all.stream()
                        .filter(other -> other != this)
                        .forEach(other -> other.model.witness(new Charge(other.limit, KEY, permits)));
            }
            history.add(clock.micros() + ": " + permits + " by " + limit);
            assertThat(take(limit, permits))
                    .as(() -> String.join("\n", history))
                    .isEqualTo(expected);
            return expected;
        }
    }
}
