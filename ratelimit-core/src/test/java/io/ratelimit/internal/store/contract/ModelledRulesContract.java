package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Several rules count in one bucket. Each has a model of its own, which is told of all calls that another rule admits: the store
 * decides by each rule as its model does.
 */
public abstract class ModelledRulesContract extends StoreContract {

    final Random random = TestRandom.create(getClass());

    private final List<String> history = new ArrayList<>();

    /** Begins with a bucket that no call has used. */
    List<ModelledRule> begin(List<RateLimit> rules) {
        history.clear();
        return rules.stream().map(ModelledRule::new).toList();
    }

    int calls() {
        return history.size();
    }

    /** A rule that is new to a bucket adopts what it finds. In the same microsecond that is the same by every rule. */
    void callByEachIfUnused(List<ModelledRule> rules) {
        if (rules.stream().allMatch(ModelledRule::isUnused)) {
            rules.forEach(rule -> rule.call(1, rules));
        }
    }

    /** Calls with a random number of permits, and moves the time, often to where the next decision changes. */
    void call(ModelledRule rule, List<ModelledRule> all) {
        RateLimitDecision decision = rule.call(random.nextLong(rule.limit.capacity() + 1), all);
        clock.advance(Math.max(0, step(decision)));
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

    final class ModelledRule {

        private final RateLimit limit;

        private final ReferenceStore model = new ReferenceStore(clock);

        private ModelledRule(RateLimit limit) {
            this.limit = limit;
        }

        private boolean isUnused() {
            return model.decide(StoreRequest.peek(new Charge(limit, KEY, 0)))
                    .await()
                    .decision()
                    .resetAfter()
                    .isZero();
        }

        private RateLimitDecision call(long permits, List<ModelledRule> all) {
            RateLimitDecision expected =
                    model.decide(new Charge(limit, KEY, permits)).await().decision();
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
