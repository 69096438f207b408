package io.ratelimit.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitAlgorithm.Rule;
import io.ratelimit.testing.LongRunning;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract passes for an algorithm that is right, and finds the mistakes of others. */
@LongRunning
class RateLimitAlgorithmContractTests {

    static final class Right extends BucketContract {}

    @Test
    void algorithmThatIsRightPasses() {
        ContractRun results = ContractRun.of(Right.class);

        assertThat(results.messages()).isEmpty();
        assertThat(results.skipped()).isEmpty();
        assertThat(results.passed()).hasSize(8);
    }

    static final class WithoutRedis extends BucketContract {
        @Override
        protected String redisUrl() {
            return null;
        }
    }

    @Test
    void withoutRedisTheTestsOfTheLuaPartAreSkipped() {
        ContractRun results = ContractRun.of(WithoutRedis.class);

        assertThat(results.messages()).isEmpty();
        assertThat(results.passed()).hasSize(6);
        assertThat(results.skipped())
                .containsOnlyKeys("luaFunctionsEqualThoseInJava", "keysExpireWhenTheBucketIsFull")
                .allSatisfy(
                        (test, message) -> assertThat(message)
                                .isEqualTo(
                                        "WithoutRedis: the Lua part of 'bucket' is NOT tested, because redisUrl() names no Redis"));
    }

    static final class LuaOffByOne extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant("return quotient_up(rest - most * rule.micros, rule.permits)", """
                    return quotient_up(rest - most * rule.micros, rule.permits) + 1""");
        }
    }

    @Test
    void timeOffByOneInLua() {
        assertThat(ContractRun.of(LuaOffByOne.class, "decisionsEqualThoseOfTheModel", "luaFunctionsEqualThoseInJava")
                        .messages())
                .hasEntrySatisfying(
                        "decisionsEqualThoseOfTheModel",
                        message -> assertThat(message)
                                .contains("step ", "model: ", "Java: ", "Lua as a script: ", "Lua as a function: ")
                                .contains("Repeat it with -Dratelimit.test.seed="))
                .hasEntrySatisfying(
                        "luaFunctionsEqualThoseInJava",
                        message -> assertThat(message).contains("reset_after of ", " in Java and ", " in Lua"));
    }

    static final class JavaOffByOne extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket() {
                @Override
                public State recover(Rule rule, State state, long now) {
                    return super.recover(rule, state, Math.max(state.since(), now - 1));
                }
            };
        }
    }

    @Test
    void timeOffByOneInJava() {
        assertThat(ContractRun.of(JavaOffByOne.class, "decisionsEqualThoseOfTheModel")
                        .messages())
                .containsKey("decisionsEqualThoseOfTheModel");
    }

    static final class BothOffByOne extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant(
                    "quotient_up(rest, rule.permits) then", "quotient_up(rest, rule.permits) - 1 then") {
                @Override
                public State recover(Rule rule, State state, long now) {
                    return now - state.since() >= quotientUp(state.rest(), rule.permits()) - 1
                            ? new State(0, now, 0)
                            : super.recover(rule, state, now);
                }
            };
        }
    }

    @Test
    void sameMistakeInBothLanguages() {
        assertThat(ContractRun.of(
                                BothOffByOne.class,
                                "decisionsEqualThoseOfTheModel",
                                "rejectedCallTakesNothingAndSucceedsAfterRetryAfter",
                                "luaFunctionsEqualThoseInJava")
                        .messages())
                .containsKey("decisionsEqualThoseOfTheModel")
                .containsKey("rejectedCallTakesNothingAndSucceedsAfterRetryAfter")
                .doesNotContainKey("luaFunctionsEqualThoseInJava");
    }

    static final class FractionInLua extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant("return quotient_up(missing, rule.micros), now, missing", """
                    return missing / rule.micros, now, missing""");
        }
    }

    @Test
    void fractionInTheState() {
        assertThat(ContractRun.of(FractionInLua.class, "decisionsEqualThoseOfTheModel", "luaFunctionsEqualThoseInJava")
                        .messages())
                .hasEntrySatisfying(
                        "decisionsEqualThoseOfTheModel",
                        message -> assertThat(message).contains("fails: "))
                .containsKey("luaFunctionsEqualThoseInJava");
    }

    static final class RefillsTwice extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant(
                    "return state(rule, rest - (now - since) * rule.permits, now)",
                    "local used, _, left = state(rule, rest - (now - since) * rule.permits, now) return used, since, left",
                    "take = function(rule, _, _, rest, now, permits)",
                    "take = function(rule, _, now, rest, _, permits)") {
                @Override
                public State recover(Rule rule, State state, long now) {
                    State recovered = super.recover(rule, state, now);
                    return recovered.used() == 0
                            ? recovered
                            : new State(recovered.used(), state.since(), recovered.rest());
                }

                @Override
                public State take(Rule rule, State state, long now, long permits) {
                    return super.take(rule, state, state.since(), permits);
                }
            };
        }
    }

    @Test
    void permitsThatComeBackTwice() {
        assertThat(ContractRun.of(RefillsTwice.class, "decisionsEqualThoseOfTheModel")
                        .messages())
                .containsKey("decisionsEqualThoseOfTheModel");
    }

    static final class RefundsTooMuch extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant("rest - permits * rule.micros), now", "rest - (permits + 1) * rule.micros), now") {
                @Override
                public State refund(Rule rule, State state, long now, long permits) {
                    return super.refund(rule, state, now, permits + 1);
                }
            };
        }
    }

    @Test
    void refundOfMoreThanWasTaken() {
        assertThat(ContractRun.of(
                                RefundsTooMuch.class,
                                "refundReturnsNoMoreThanWasTaken",
                                "decisionsEqualThoseOfTheModel")
                        .messages())
                .containsOnlyKeys("refundReturnsNoMoreThanWasTaken");
    }

    static final class MoreThanTheCapacity extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant(
                    "time_until =", "used = function(_, used) return math.max(0, used - 1) end, time_until =") {
                @Override
                public long used(Rule rule, State state, long now) {
                    return Math.max(0, state.used() - 1);
                }
            };
        }
    }

    @Test
    void moreThanTheCapacityAtOnce() {
        assertThat(ContractRun.of(
                                MoreThanTheCapacity.class,
                                "decisionsEqualThoseOfTheModel",
                                "noMoreThanTheCapacityIsTakenAtOnce")
                        .messages())
                .containsKeys("decisionsEqualThoseOfTheModel", "noMoreThanTheCapacityIsTakenAtOnce");
    }

    static final class ForgetsTooEarly extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant("time_until =", """
                    reset_after = function(rule, _, _, rest)
                      return math.max(1, quotient_up(rest, rule.permits) - 1000)
                    end,
                    time_until =""");
        }
    }

    @Test
    void stateThatIsForgottenTooEarly() {
        assertThat(ContractRun.of(ForgetsTooEarly.class, "decisionsEqualThoseOfTheModel")
                        .messages())
                .containsKey("decisionsEqualThoseOfTheModel");
    }

    static final class RememberedForTooLong extends BucketContract {
        @Override
        protected RateLimitAlgorithm algorithm() {
            return new Bucket.Mutant("time_until =", "reset_after = function() return 9e12 end, time_until =") {
                @Override
                public long resetAfter(Rule rule, State state, long now) {
                    return 9_000_000_000_000L;
                }
            };
        }
    }

    @Test
    void stateThatIsRememberedForTooLong() {
        assertThat(ContractRun.of(RememberedForTooLong.class, "keysExpireWhenTheBucketIsFull")
                        .messages())
                .containsKey("keysExpireWhenTheBucketIsFull");
    }

    static final class WrongModel extends BucketContract {
        @Override
        protected long available(Rule rule, List<AdmittedCall> admitted, long now) {
            return super.available(rule, admitted, now + 1);
        }
    }

    /** The message shows that the others agree. */
    @Test
    void mistakeInTheModel() {
        assertThat(ContractRun.of(
                                WrongModel.class,
                                "decisionsEqualThoseOfTheModel",
                                "rejectedCallTakesNothingAndSucceedsAfterRetryAfter",
                                "noMoreThanTheCapacityIsTakenAtOnce",
                                "luaFunctionsEqualThoseInJava")
                        .messages())
                .containsOnlyKeys("decisionsEqualThoseOfTheModel");
    }
}
