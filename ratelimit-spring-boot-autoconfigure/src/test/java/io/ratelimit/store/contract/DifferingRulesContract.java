package io.ratelimit.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.StoreRequest;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two instances disagree about a limit's rule. Each decides by its own alone and counts by it all that is admitted, by
 * either: at random times they answer as two models do that are told of each other's calls.
 */
public abstract class DifferingRulesContract extends StoreContract {

    private static final int CALLS = 150;

    private final Random random = TestRandom.create(getClass());

    private final List<String> history = new ArrayList<>();

    @ParameterizedTest
    @MethodSource("io.ratelimit.store.contract.RulePairs#all")
    void eachRuleCountsWhatBothAdmit(LimitKind first, LimitKind second) {
        Instance larger = new Instance(RulePairs.larger(first));
        Instance faster = new Instance(RulePairs.faster(second));
        while (history.size() < CALLS) {
            // What is new to a bucket adopts what it finds. In the same microsecond that is the same by every rule.
            if (larger.isUnused() && faster.isUnused()) {
                larger.call(1, faster);
                faster.call(1, larger);
            }
            boolean turn = random.nextBoolean();
            Instance caller = turn ? larger : faster;
            Instance other = turn ? faster : larger;
            RateLimitDecision decision = caller.call(random.nextLong(caller.rule.capacity() + 1), other);
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

    /** One that has a rule of its own, and the model of it. */
    private final class Instance {

        private final RateLimit rule;

        private final ReferenceStore model = new ReferenceStore(clock);

        private Instance(RateLimit rule) {
            this.rule = rule;
        }

        boolean isUnused() {
            return model.peek(new Charge(rule, KEY, 0)).resetAfter().isZero();
        }

        RateLimitDecision call(long permits, Instance other) {
            Charge charge = new Charge(rule, KEY, permits);
            RateLimitDecision expected = model.decide(StoreRequest.of(charge)).decision();
            if (expected.allowed() && permits > 0 && other.rule != rule) {
                other.model.witness(new Charge(other.rule, KEY, permits));
            }
            history.add(clock.micros() + ": " + permits + " by " + rule);
            assertThat(take(rule, permits)).as(() -> String.join("\n", history)).isEqualTo(expected);
            return expected;
        }
    }
}
