package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.Waiter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A pointcut that cannot limit what it names stops the start-up. */
class PointcutMistakeTests {

    private static final String HERE = PointcutMistakeTests.class.getName();

    private static final String CLIENT = "execution(* " + HERE + ".Client.*(..))";

    private final ApplicationContextRunner runner =
            LimitedContexts.inMemory().withBean(Client.class).withPropertyValues("ratelimit.limits.clients.rate=1/s");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "execution(* fetch( | is not a pointcut: Pointcut is not well-formed",
                "fetch | is not a pointcut: Pointcut is not well-formed",
                "execution(* com.acme.Missing.fetch(..)) | must name classes: no class matches com.acme.Missing.",
                "cflow(execution(* fetch(..))) | is not a pointcut: Pointcut expression",
                "@target(java.lang.Deprecated) | uses @target(), but a pointcut of a limit names methods.",
                "bean(client) | uses bean(), but a pointcut of a limit names methods.",
                "execution(* fetch(..)) && args(id) | uses args(), but a pointcut of a limit names methods.",
                "execution(* fetch(..)) and @args(java.lang.Deprecated) | uses @args(), but a pointcut",
                "within(io.ratelimit.aopp..*) | matches no public method of any bean.",
                "execution(* fetsch(..)) | matches no public method of any bean.",
                "execution(* hidden(..)) | matches no public method of any bean.",
                "execution(* toString()) | matches no public method of any bean.",
            })
    void pointcutThatNamesNoMethodStopsTheStartUp(String pointcut, String what) {
        runner.withPropertyValues("ratelimit.limits.clients.pointcut=" + pointcut)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("What: ratelimit.limits.clients.pointcut \"" + pointcut + "\" " + what));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "execution(* io.ratelimit.aop.Client.fetch(..)) | must name classes: no class matches io.ratelimit.aop.Client.",
                "execution(* io.ratelimit.aop.PointcutMistakeTests.Cleint.fetch(..)) | must name classes: no class matches",
                "execution(* io.ratelimit.oap.PointcutMistakeTests.Client.fetch(..)) | must name classes: no class matches",
                "execution(* io.ratelimit.aop.PointcutMistakeTests.Cleint.*(..)) | must name classes: no class matches",
            })
    void classThatThereIsNotStopsTheStartUp(String pointcut, String what) {
        runner.withPropertyValues("ratelimit.limits.clients.pointcut=" + pointcut)
                .run(context -> {
                    assertThat(analysis(context).getDescription())
                            .contains("pointcut \"" + pointcut + "\" " + what)
                            .doesNotContain("Xlint");
                    assertThat(analysis(context).getAction()).startsWith("Write an AspectJ expression");
                });
    }

    @Test
    void limitWithoutARateStopsTheStartUp() {
        LimitedContexts.inMemory()
                .withBean(Client.class)
                .withPropertyValues("ratelimit.limits.clients.pointcut=" + CLIENT)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Client.class.getName())
                            .contains("What: ratelimit.limits.clients must name a declared limit, or have a rate.");
                    assertThat(analysis.getAction()).contains("With a rate, it declares a limit itself.");
                });
    }

    @Test
    void parameterThatOneOfTheMethodsDoesNotHaveStopsTheStartUp() {
        runner.withPropertyValues(
                        "ratelimit.limits.clients.pointcut=" + CLIENT, "ratelimit.limits.clients.key-expression=#id")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Client.class.getName() + ".other()")
                            .contains("What: ratelimit.limits.clients.key-expression \"#id\" names #id, but the method"
                                    + " has no such parameter.");
                });
    }

    @Test
    void finalMethodStopsTheStartUp() {
        runner.withBean(Sealed.class)
                .withPropertyValues("ratelimit.limits.clients.pointcut=execution(* sealed(..))")
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Sealed.class.getName() + ".sealed()")
                            .contains("What: ratelimit.limits.clients.pointcut \"execution(* sealed(..))\" must apply"
                                    + " to methods that a proxy can intercept (was final).");
                    assertThat(analysis.getAction()).isEqualTo("Make it non-final, or leave it out of the pointcut.");
                });
    }

    @Test
    void finalClassWithoutAnInterfaceStopsTheStartUp() {
        runner.withBean(FinalClient.class)
                .withPropertyValues("ratelimit.limits.clients.pointcut=within(" + HERE + ".FinalClient)")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + FinalClient.class.getName() + ".fetch()")
                        .contains("What: ratelimit.limits.clients.pointcut \"within(" + HERE + ".FinalClient)\" must"
                                + " apply to a class that can be proxied (was final, without an interface)."));
    }

    @ParameterizedTest
    @CsvSource({"prototype,false", "singleton,true"})
    void beanThatIsNotCreatedYetCounts(String scope, boolean lazy) {
        BeanDefinitionCustomizer later = definition -> {
            definition.setScope(scope);
            definition.setLazyInit(lazy);
        };
        LimitedContexts.inMemory()
                .withBean(Client.class, Client::new, later)
                .withPropertyValues("ratelimit.limits.clients.rate=1/s", "ratelimit.limits.clients.pointcut=" + CLIENT)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(Client.class).other();
                    assertRejected("clients", context.getBean(Client.class)::other);
                });
    }

    @Test
    void mistakeInTheMethodsOfABeanThatIsNotCreatedYetStopsTheStartUp() {
        LimitedContexts.inMemory()
                .withBean(Client.class, Client::new, definition -> definition.setLazyInit(true))
                .withPropertyValues(
                        "ratelimit.limits.clients.rate=1/s",
                        "ratelimit.limits.clients.pointcut=" + CLIENT,
                        "ratelimit.limits.clients.key-expression=#id")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + Client.class.getName() + ".other()"));
    }

    @Test
    void methodThatTheRateLimiterItselfNeedsStopsTheStartUp() {
        runner.withUserConfiguration(CallingWaiter.class)
                .withPropertyValues("ratelimit.limits.clients.pointcut=" + CLIENT)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Client.class.getName() + ".other()")
                            .contains("What: a limited method must not be called while the rate limiter is created.");
                    assertThat(analysis.getAction())
                            .isEqualTo("Leave it out of the pointcut, or remove its annotation.");
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class CallingWaiter {

        @Bean
        Waiter waiter(Client client) {
            client.other();
            return Waiter.parking();
        }
    }

    public static class Client {

        public void fetch(String id) {}

        public void other() {}

        void hidden() {}
    }

    public static class Sealed {

        public final void sealed() {}
    }

    public static final class FinalClient {

        public void fetch() {}
    }
}
