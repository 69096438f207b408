package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.web.context.request.RequestContextHolder;

/** An expression that fails, or gives nothing usable, fails the call: it is neither made nor charged. */
class ExpressionFailureTests {

    private static final String SECRET = "0xSECRET";

    private final ApplicationContextRunner runner =
            LimitedContexts.inMemory().withBean("quotes", Quotes.class, Quotes::new);

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "key-expression | null | must return a key (was null)",
                "key-expression | '' | must return a key (was empty)",
                "key-expression | #user.substring(99) | failed",
                "key-expression | T(Integer).parseInt(#user) | failed",
                "key-expression | #user.nothing | failed",
                "key-expression | @quotes.fail(#user) | failed",
                "permits | 0 - 1 | must not be negative (was -1)",
                "permits | 1.5 | must return a whole number (was a java.lang.Double)",
                "permits | null | must return a whole number (was null)",
                "permits | #user | must return a whole number (was a java.lang.String)",
                "permits | T(Integer).parseInt(#user) | failed",
                "condition | null | must return true or false (was null)",
                "condition | #user | must return true or false (was a java.lang.String)",
                "condition | @quotes.fail(#user) | failed",
            })
    void callIsNotMade(String attribute, String expression, String problem) {
        runner.withPropertyValues("ratelimit.limits.quotes." + attribute + "=" + expression)
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    assertThat(catchThrowable(() -> quotes.quote(SECRET)))
                            .isInstanceOf(RateLimitExpressionException.class)
                            .hasMessage("%s.quote(String): ratelimit.limits.quotes.%s \"%s\" %s"
                                    .formatted(Quotes.class.getName(), attribute, expression, problem));
                    assertThat(quotes.calls).isZero();
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .isEmpty();
                });
    }

    @Test
    void nullArgumentIsNoKey() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=#user")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    assertThat(catchThrowable(() -> quotes.quote(null)))
                            .isInstanceOf(RateLimitExpressionException.class)
                            .hasMessageEndingWith("must return a key (was null)");
                    assertThat(quotes.calls).isZero();
                });
    }

    @Test
    void requestIsMissingOutsideOfOne() {
        // Other tests leave theirs on this thread.
        RequestContextHolder.resetRequestAttributes();
        LimitedContexts.inMemoryServlet()
                .withBean("quotes", Quotes.class, Quotes::new)
                .withPropertyValues("ratelimit.limits.quotes.key-expression=clientIp")
                .run(context -> assertThat(catchThrowable(
                                () -> context.getBean(Quotes.class).quote(SECRET)))
                        .isInstanceOf(RateLimitExpressionException.class)
                        .hasMessageContaining("\"clientIp\" failed")
                        .rootCause()
                        .hasMessage("clientIp, principal and header() must be used during a web request"));
    }

    @Test
    void secondLimitsFailureLeavesTheFirstUncharged() {
        runner.withBean("twice", Twice.class, Twice::new).run(context -> {
            Twice twice = context.getBean(Twice.class);
            assertThat(catchThrowable(() -> twice.call("")))
                    .isInstanceOf(RateLimitExpressionException.class)
                    .hasMessageContaining("keyExpression \"#user\" must return a key (was empty)");
            assertThat(context.getBean(RecordingListener.class).outcomes()).isEmpty();
            twice.call("alice");
        });
    }

    static class Quotes {

        int calls;

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote(String user) {
            calls++;
        }

        public String fail(String user) {
            throw new IllegalStateException("no such user: " + user);
        }
    }

    static class Twice {

        @RateLimited(name = "all", rate = "1/s")
        @RateLimited(name = "each", rate = "1/s", keyExpression = "#user")
        public void call(String user) {}
    }
}
