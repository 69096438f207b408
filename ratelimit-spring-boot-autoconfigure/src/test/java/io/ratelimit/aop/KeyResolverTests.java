package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitInputException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.RateLimitKeyContext;
import io.ratelimit.spi.RateLimitKeyResolver;
import java.io.IOException;
import java.security.Principal;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.core.context.ReactiveSecurityContextHolder;
import reactor.core.publisher.Mono;

/** Keys of calls that a bean determines. */
class KeyResolverTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean("quotes", Quotes.class, Quotes::new)
            .withBean("user", RateLimitKeyResolver.class, () -> call -> call.arguments()[0])
            .withBean("describing", RateLimitKeyResolver.class, () -> KeyResolverTests::describe);

    private static String describe(RateLimitKeyContext call) {
        return call.method().getName() + " " + call.target().getClass().getSimpleName() + " " + call.variable("user")
                + " " + call.variable("nothing") + " " + call.isRequest();
    }

    @Test
    void annotationNamesTheBean() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice");
            quotes.quote("bob");
            LimitedContexts.assertRejected("quotes", () -> quotes.quote("alice"));
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("alice", "bob", "alice");
        });
    }

    @Test
    void resolverKnowsTheCall() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-resolver=describing")
                .run(context -> {
                    context.getBean(Quotes.class).quote("alice");
                    assertThat(context.getBean(RecordingListener.class).keys())
                            .containsExactly("quote Quotes alice null false");
                });
    }

    @ParameterizedTest
    @CsvSource({
        "ratelimit.limits.quotes.key-expression=x, x",
        "ratelimit.limits.quotes.key-expression=all-callers,",
        "ratelimit.defaults.key-expression=x, alice",
        "ratelimit.defaults.key-resolver=describing, alice"
    })
    void keyIsOneAttributeWhetherItIsAnExpressionOrABean(String property, String key) {
        runner.withPropertyValues(property.replace("=x", "='x'")).run(context -> {
            context.getBean(Quotes.class).quote("alice");
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(key);
        });
    }

    @Test
    void limitsWithoutAKeyHaveTheDefaultResolver() {
        runner.withPropertyValues("ratelimit.defaults.key-resolver=describing").run(context -> {
            context.getBean(Quotes.class).plain("alice");
            assertThat(context.getBean(RecordingListener.class).keys())
                    .containsExactly("plain Quotes alice null false");
        });
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "null",
            value = {"null, null", "'', empty"})
    void callWithoutAKeyFailsAsWithAnExpression(String key, String was) {
        runner.run(context -> {
            assertThatExceptionOfType(MissingRateLimitKeyException.class)
                    .isThrownBy(() -> context.getBean(Quotes.class).quote(key))
                    .withMessage(Quotes.class.getName() + ".quote(String): keyResolver \"user\" must return a key (was "
                            + was + ")");
            assertThat(context.getBean(RecordingListener.class).keys()).isEmpty();
        });
    }

    @Test
    void failureOfTheBeanIsOneOfTheCallAndItsMessageIsNotRepeated() {
        assertFailureOfTheCall(new IllegalStateException("secret"));
    }

    /** As a bean in Kotlin may throw it. */
    @Test
    void checkedExceptionOfTheBeanIsAFailureAsAnyOther() {
        assertFailureOfTheCall(new IOException("secret"));
    }

    private void assertFailureOfTheCall(Throwable failure) {
        runner.withBean(
                        "failing",
                        RateLimitKeyResolver.class,
                        () -> call -> KeyResolverTests.<RuntimeException>fail(failure))
                .withPropertyValues("ratelimit.limits.quotes.key-resolver=failing")
                .run(context -> assertThatExceptionOfType(RateLimitExpressionException.class)
                        .isThrownBy(() -> context.getBean(Quotes.class).quote("alice"))
                        .withMessage(Quotes.class.getName()
                                + ".quote(String): ratelimit.limits.quotes.key-resolver \"failing\" failed")
                        .withCause(failure));
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> Object fail(Throwable failure) throws E {
        throw (E) failure;
    }

    /** As the argument of a method that an expression calls: a client may have chosen it. */
    @Test
    void valueThatTheBeanCannotUseIsOneOfTheCaller() {
        runner.withBean(
                        "parsing",
                        RateLimitKeyResolver.class,
                        () -> call -> UUID.fromString((String) call.variable("user")))
                .withPropertyValues("ratelimit.limits.quotes.key-resolver=parsing")
                .run(context -> assertThatExceptionOfType(RateLimitInputException.class)
                        .isThrownBy(() -> context.getBean(Quotes.class).quote("0xSECRET"))
                        .withMessage(Quotes.class.getName()
                                + ".quote(String): ratelimit.limits.quotes.key-resolver \"parsing\" failed"
                                + " (java.lang.IllegalArgumentException)"));
    }

    @Test
    void requestIsNeededForItsFacts() {
        runner.withBean("address", RateLimitKeyResolver.class, () -> RateLimitKeyContext::clientIp)
                .withPropertyValues("ratelimit.limits.quotes.key-resolver=address")
                .run(context -> assertThatExceptionOfType(RateLimitExpressionException.class)
                        .isThrownBy(() -> context.getBean(Quotes.class).quote("alice"))
                        .havingCause()
                        .withMessageContaining("must be used during a web request"));
    }

    @Test
    void resolverOfAReactiveMethodKnowsThePrincipal() {
        runner.withBean("login", RateLimitKeyResolver.class, () -> call -> {
                    Principal principal = call.principal();
                    return principal;
                })
                .withPropertyValues("ratelimit.limits.later.key-resolver=login")
                .run(context -> {
                    context.getBean(Quotes.class)
                            .later()
                            .contextWrite(ReactiveSecurityContextHolder.withAuthentication(
                                    new TestingAuthenticationToken("alice", "secret", "USER")))
                            .block();
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly("alice");
                });
    }

    @Test
    void unknownBeanStopsTheStartUp() {
        runner.withPropertyValues("ratelimit.limits.quotes.key-resolver=uesr").run(context -> {
            FailureAnalysis report = analysis(context);
            assertThat(report.getDescription())
                    .contains(
                            "What: ratelimit.limits.quotes.key-resolver must be the name of a RateLimitKeyResolver bean"
                                    + " (was \"uesr\").");
            assertThat(report.getAction()).isEqualTo("Did you mean user? There are: describing, user.");
        });
        LimitedContexts.inMemory()
                .withBean("user", String.class, () -> "not a resolver")
                .withBean(Quotes.class)
                .run(context -> {
                    FailureAnalysis report = analysis(context);
                    assertThat(report.getDescription())
                            .contains("Where: " + Quotes.class.getName() + ".quote(String)")
                            .contains(
                                    "What: keyResolver must be the name of a RateLimitKeyResolver bean (was \"user\").");
                    assertThat(report.getAction())
                            .isEqualTo("There is no such bean. Declare one, or use an expression.");
                });
    }

    @Test
    void expressionAndBeanTogetherStopTheStartUp() {
        runner.withBean(Both.class).run(context -> {
            assertThat(analysis(context).getDescription())
                    .contains("Where: " + Both.class.getName() + ".call(String)")
                    .contains("What: keyResolver must not be set beside keyExpression (was \"user\").");
            assertThat(analysis(context).getAction()).isEqualTo("Remove one of them.");
        });
        for (String prefix : new String[] {"ratelimit.limits.quotes", "ratelimit.defaults"}) {
            runner.withPropertyValues(prefix + ".key-resolver=user", prefix + ".key-expression=#user")
                    .run(context -> assertThat(analysis(context).getDescription())
                            .contains("What: " + prefix
                                    + ".key-resolver must not be set beside key-expression (was \"user\")."));
        }
    }

    @Test
    void beanMayDependOnLimitedBeans() {
        runner.withPropertyValues("ratelimit.limits.plain.key-resolver=dependent")
                .withBean("dependent", Dependent.class)
                .run(context -> {
                    context.getBean(Quotes.class).plain("alice");
                    assertThat(context.getBean(RecordingListener.class).keys()).contains("of Quotes");
                });
    }

    static class Dependent implements RateLimitKeyResolver {

        private final Quotes quotes;

        Dependent(Quotes quotes) {
            this.quotes = quotes;
        }

        @Override
        public Object resolve(RateLimitKeyContext call) {
            return "of " + quotes.getClass().getSuperclass().getSimpleName();
        }
    }

    static class Quotes {

        @RateLimited(name = "quotes", rate = "1/s", keyResolver = "user")
        public void quote(String user) {}

        @RateLimited(name = "plain", rate = "1/s")
        public void plain(String user) {}

        @RateLimited(name = "later", rate = "1/s", keyExpression = "'x'")
        public Mono<String> later() {
            return Mono.just("42");
        }
    }

    static class Both {

        @RateLimited(name = "both", rate = "1/s", keyExpression = "#user", keyResolver = "user")
        public void call(String user) {}
    }
}
