package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.Charge;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class PermitsAndConditionTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Exports.class);

    @ParameterizedTest
    @CsvSource({
        "#rows,7",
        "2 * #rows,14",
        "T(String).valueOf(#rows),7",
        "#rows * 1.0,7",
        "new java.math.BigDecimal(#rows),7",
        "3,3",
        "0,0",
        "#rows - 7,0"
    })
    void permitsAreWhatTheExpressionSays(String expression, long permits) {
        runner.withPropertyValues("ratelimit.limits.exports.permits=" + expression)
                .run(context -> {
                    context.getBean(Exports.class).export(7);
                    assertThat(context.getBean(RecordingListener.class).charges())
                            .extracting(Charge::permits)
                            .containsExactly(permits);
                });
    }

    @Test
    void freeCallPassesEvenIfTheBucketIsEmpty() {
        runner.run(context -> {
            Exports exports = context.getBean(Exports.class);
            exports.export(20);
            exports.export(0);
            assertRejected("exports", () -> exports.export(1));
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"1E-400", "1.0000000000000000000001", "1E+999999999"})
    void decimalThatIsNoWholeNumberIsAMistakeHoweverSmallTheRest(String permits) {
        runner.withPropertyValues("ratelimit.limits.exports.permits=new java.math.BigDecimal('" + permits + "')")
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    assertThatExceptionOfType(RateLimitInputException.class).isThrownBy(() -> exports.export(1));
                });
    }

    @Test
    void moreThanTheCapacityNeverSucceeds() {
        runner.run(context -> {
            Exports exports = context.getBean(Exports.class);
            RateLimitExceededException rejection =
                    Assertions.catchThrowableOfType(RateLimitExceededException.class, () -> exports.export(21));
            assertThat(rejection.getDecision().retryAfter()).isNull();
        });
    }

    @Test
    void callIsNotLimitedWhereTheConditionIsFalse() {
        runner.withPropertyValues("ratelimit.limits.exports.condition=#rows < 1000")
                .run(context -> {
                    context.getBean(Exports.class).export(1000);
                    assertThat(context.getBean(RecordingListener.class).charges())
                            .isEmpty();
                    context.getBean(Exports.class).export(20);
                    assertRejected(
                            "exports", () -> context.getBean(Exports.class).export(20));
                });
    }

    @Test
    void keyIsNotAskedForWhereTheConditionIsFalse() {
        runner.withPropertyValues(
                        "ratelimit.limits.exports.condition=false",
                        "ratelimit.limits.exports.key-expression=false ? 'a' : null")
                .run(context -> context.getBean(Exports.class).export(1));
    }

    static class Exports {

        @RateLimited(name = "exports", rate = "20/h", permits = "#rows")
        public void export(int rows) {}
    }
}
