package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.text.ParseException;
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
                "key-expression | @quotes.fail(#user) | failed",
                "permits | {new java.util.ArrayList()}[0] | must return a whole number from 0 to 1000000000 (was a java.util.ArrayList)",
                "permits | {true}[0] | must return a whole number from 0 to 1000000000 (was a java.lang.Boolean)",
                "condition | {#user}[0] | must return true or false (was a java.lang.String)",
                "condition | {@quotes.fail(#user)}[0] | failed",
                "plan-expression | @quotes.fail(#user) | failed",
                "key-expression | @quotes.lose(#user) | failed",
                "condition | #user > 3 | failed",
                "key-expression | #root.target.lose(#user) | failed",
                "key-expression | {T(reactor.core.publisher.Mono).just(#user)}[0] | must return the value itself, because nothing waits for it (was a reactor.core.publisher.MonoJust)",
                "key-expression | {T(java.util.concurrent.CompletableFuture).completedFuture(#user)}[0] | must return the value itself, because nothing waits for it (was a java.util.concurrent.CompletableFuture)",
                "plan-expression | {T(reactor.core.publisher.Mono).just(#user)}[0] | must return the name of a plan or a RateLimitPlan",
                "permits | {T(reactor.core.publisher.Mono).just(1)}[0] | must return a whole number from 0 to 1000000000 (was a reactor.core.publisher.MonoJust)",
            })
    void mistakeOfTheServerFailsTheCall(String attribute, String expression, String problem) {
        assertFails(attribute, expression, RateLimitExpressionException.class, problem);
    }

    @Test
    void mistakeInANameIsPartOfTheMessage() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-expression=@quotes.nothing")
                .run(context -> assertThat(catchThrowable(
                                () -> context.getBean(Quotes.class).quote(SECRET, null)))
                        .isExactlyInstanceOf(RateLimitExpressionException.class)
                        .hasMessageContaining(
                                "\"@quotes.nothing\" failed (EL1008E: Property or field 'nothing' cannot be found")
                        .hasMessageContaining(Quotes.class.getName())
                        .hasMessageNotContaining(SECRET));
    }

    /** A caller chooses the argument, so a web application answers with a 400. */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "key-expression | false ? 'a' : null | must return a key (was null)",
                "key-expression | #absent.length | must return a key (was null)",
                "key-expression | false ? 'a' : '' | must return a key (was empty)",
            })
    void callWithoutAKeyIsNotMade(String attribute, String expression, String problem) {
        assertFails(attribute, expression, MissingRateLimitKeyException.class, problem);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            delimiter = '|',
            value = {
                "key-expression | #user.substring(99) | failed (java.lang.StringIndexOutOfBoundsException)",
                "key-expression | #user.split(' ')[1] | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "key-expression | T(Integer).parseInt(#user) | failed (java.lang.NumberFormatException)",
                "key-expression | T(java.util.UUID).fromString(#absent) | failed (java.lang.NullPointerException)",
                "plan-expression | T(java.time.Instant).parse(#user) | failed (java.time.format.DateTimeParseException)",
                "permits | #user.length() - 9 | must return a whole number from 0 to 1000000000 (was -1)",
                "permits | #user.length() + 999999993 | must return a whole number from 0 to 1000000000 (was 1000000001)",
                "permits | #user.length() * 0 + 9223372036854775807L | must return a whole number from 0 to 1000000000 (was 9223372036854775807)",
                "permits | new java.math.BigInteger('18446744073709551617') | must return a whole number from 0 to 1000000000 (was a java.math.BigInteger)",
                "permits | new java.math.BigDecimal('1e999999999') | must return a whole number from 0 to 1000000000 (was a java.math.BigDecimal)",
                "permits | #user.length() / 5.0 | must return a whole number from 0 to 1000000000 (was 1.6)",
                "permits | 0.0 / (#user.length() - 8) | must return a whole number from 0 to 1000000000 (was NaN)",
                "permits | 1.0 / (#user.length() - 8) | must return a whole number from 0 to 1000000000 (was Infinity)",
                "permits | 1 / (#user.length() - 8) | failed (java.lang.ArithmeticException)",
                "permits | {null}[0] | must return a whole number from 0 to 1000000000 (was null)",
                "permits | #user | must return a whole number from 0 to 1000000000 (was a java.lang.String)",
                "permits | {''}[0] | must return a whole number from 0 to 1000000000 (was a java.lang.String)",
                "permits | {'-1'}[0] | must return a whole number from 0 to 1000000000 (was a java.lang.String)",
                "permits | T(Integer).parseInt(#user) | failed (java.lang.NumberFormatException)",
                "permits | #absent.length | must return a whole number from 0 to 1000000000 (was null)",
                "permits | #absent * 2 | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "permits | #absent.![length()][0] | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "permits | #absent.?[true] | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "key-expression | #user.repeat(20000) + ':' | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "condition | #user.repeat(999) matches '.*.*.*=' | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "condition | #absent matches 'a+' | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "condition | null | must return true or false (was null)",
                "condition | #absent.empty | must return true or false (was null)",
                "key-expression | T(java.util.Optional).empty().get() | failed (java.util.NoSuchElementException)",
                "plan-expression | T(java.util.Optional).empty().orElseThrow() | failed (java.util.NoSuchElementException)",
                "permits | T(java.util.List).of().iterator().next() | failed (java.util.NoSuchElementException)",
                "key-expression | new java.net.URI('%%' + #user) | failed (java.net.URISyntaxException)",
                "key-expression | new java.math.BigDecimal(#user) | failed (java.lang.NumberFormatException)",
                "key-expression | T(java.net.URLDecoder).decode('a', #user) | failed (java.io.UnsupportedEncodingException)",
                "condition | @quotes.parse(#user) | failed (java.text.ParseException)",
                "key-expression | T(io.ratelimit.aop.ExpressionFailureTests$Token).of(#user).subject | failed (java.text.ParseException)",
                "key-expression | new io.ratelimit.aop.ExpressionFailureTests$Token(#absent) | failed (java.io.UncheckedIOException)",
                "key-expression | T(java.time.Year).isLeap(#user) | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "permits | T(Math).max(1, #absent) | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "permits | new java.math.BigDecimal(#absent) | failed (java.lang.NullPointerException)",
                "permits | new Long(#absent) | failed (java.lang.NumberFormatException)",
                "condition | #user matches #absent | failed (org.springframework.expression.spel.SpelEvaluationException)",
                "permits | #user.repeat(2000) matches '(.x?)*' ? 1 : 2 | failed (java.lang.StackOverflowError)",
            })
    void callWithAValueThatTheLimitCannotUseIsNotMade(String attribute, String expression, String problem) {
        assertFails(attribute, expression, RateLimitInputException.class, problem);
    }

    private void assertFails(
            String attribute, String expression, Class<? extends RateLimitException> type, String problem) {
        runner.withPropertyValues(
                        "ratelimit.limits.quotes." + attribute + "=" + expression,
                        "ratelimit.limits.quotes.plans.pro.capacity=" + (attribute.startsWith("plan") ? 2 : 1),
                        "ratelimit.limits.quotes."
                                + (attribute.startsWith("plan") ? "dry-run=false" : "plan-expression=none"))
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    assertThat(catchThrowable(() -> quotes.quote(SECRET, null)))
                            .isExactlyInstanceOf(type)
                            .hasMessage("%s.quote(String, String): ratelimit.limits.quotes.%s \"%s\" %s"
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
                    assertThat(catchThrowable(() -> quotes.quote(null, null)))
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
                                () -> context.getBean(Quotes.class).quote(SECRET, null)))
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
        public void quote(String user, String absent) {
            calls++;
        }

        public String fail(String user) {
            throw new IllegalStateException("no such user: " + user);
        }

        /** As if it could not reach a database. */
        public String lose(String user) {
            throw new UncheckedIOException(new IOException(user));
        }

        public boolean parse(String user) throws ParseException {
            throw new ParseException(user, 0);
        }
    }

    public record Token(String text) {

        public Token {
            if (text == null) {
                throw new UncheckedIOException(new IOException(SECRET));
            }
        }

        public static Token of(String text) {
            return new Token(text);
        }

        public String getSubject() throws ParseException {
            if (!text.isEmpty()) {
                throw new ParseException(text, 0);
            }
            return text;
        }
    }

    static class Twice {

        @RateLimited(name = "all", rate = "1/s")
        @RateLimited(name = "each", rate = "1/s", keyExpression = "#user")
        public void call(String user) {}
    }
}
