package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.aop.PointcutTests.Client;
import io.ratelimit.aop.PointcutTests.Port;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitCustomizer;
import io.ratelimit.spi.RateLimitKeyContext;
import io.ratelimit.spi.RateLimitKeyResolver;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.OwnAlgorithms;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.aspectj.lang.annotation.Aspect;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.InitBinder;
import org.springframework.web.bind.annotation.ModelAttribute;

/** Methods that match a pointcut and are not limited by it: of the starter, of what limits are made with, of frameworks. */
class PointcutExclusionTests {

    private static final String HERE = PointcutExclusionTests.class.getName();

    private static final String CLIENT = "execution(* " + PointcutTests.class.getName() + ".Client.*(..))";

    /** What is nested here, and what is limited. */
    private static final String ALL = "within(" + HERE + ".*) || within(" + PointcutTests.class.getName() + ".*)";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory().withBean(Client.class);

    private ApplicationContextRunner limiting(String limit, String pointcut) {
        return runner.withPropertyValues(
                "ratelimit.limits." + limit + ".rate=1/s", "ratelimit.limits." + limit + ".pointcut=" + pointcut);
    }

    /** The starter calls it, to find the key of the very call. */
    @Test
    void beanThatFindsTheKeyIsNotLimited() {
        limiting("clients", ALL)
                .withBean("keys", Keys.class)
                .withPropertyValues("ratelimit.limits.clients.key-resolver=keys")
                .run(context -> {
                    context.getBean(Client.class).other();
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    /** Each call of a limited method would ask it. */
    @Test
    void executorOfTheApplicationIsNotLimited() {
        limiting("clients", ALL).withBean(Executor.class).run(context -> {
            assertThat(AopUtils.isAopProxy(context.getBean(Client.class))).isTrue();
            assertThat(AopUtils.isAopProxy(context.getBean(RateLimitScriptExecutor.class)))
                    .isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(classes = {OwnAlgorithms.Batches.class, Customizer.class})
    void beanThatTheLimitsAreMadeWithIsNotLimited(Class<?> type) {
        limiting("clients", CLIENT + " || within(" + type.getName().replace('$', '.') + ")")
                .withBean(type)
                .run(context -> {
                    context.getBean(Client.class).other();
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    /** Of no module, also if they could not be proxied. */
    @Test
    void beansOfTheStarterAreNotLimited() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withPropertyValues(
                        "ratelimit.redis.url=redis://127.0.0.1:1",
                        "ratelimit.limits.all.rate=1/s",
                        "ratelimit.limits.all.pointcut=within(io.ratelimit..*)")
                .run(context ->
                        assertThat(context).getFailure().hasMessageContaining("matches no public method of any bean"));
    }

    @Test
    void whatMakesBeansOrListensToDecisionsIsLeftAlone() {
        limiting("clients", ALL)
                .withUserConfiguration(Factories.class)
                .withBean(Auditor.class)
                .withBean(Port.class, () -> message -> {})
                .withBean(PortListener.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    var unused = context.getBean(Factories.class).text();
                    context.getBean(Auditor.class).audit();
                    assertThat(context.getBean("&number")).isInstanceOf(NumberFactory.class);
                    assertThat(outcomes(context)).isEmpty();
                    context.getBean(Client.class).other();
                    assertThat(outcomes(context)).containsExactly("clients ALLOWED");
                });
    }

    /** Otherwise a request would pay for each of them, and a rejection of the last would be a failure of the handler. */
    @Test
    void methodsThatSpringCallsBesidesTheHandlersOfRequestsAreLeftOut() {
        limiting("web", "within(" + HERE + ".Quote*)")
                .withBean(QuoteController.class)
                .withBean(QuoteAdvice.class)
                .run(context -> {
                    QuoteController controller = context.getBean(QuoteController.class);
                    controller.model();
                    controller.bind();
                    context.getBean(QuoteAdvice.class).failed();
                    assertThat(outcomes(context)).isEmpty();
                    controller.handleWithModel();
                    assertRejected("web", controller::handle);
                });
    }

    /** Otherwise the start-up would pay for them, and fail. */
    @Test
    void methodsThatTheContextCallsAsItStartsAreLeftOut() {
        limiting("lifecycle", "within(" + HERE + ".Quote*)")
                .withBean(QuoteLifecycle.class)
                .run(context -> {
                    assertThat(outcomes(context)).isEmpty();
                    QuoteLifecycle lifecycle = context.getBean(QuoteLifecycle.class);
                    lifecycle.refresh();
                    assertRejected("lifecycle", lifecycle::refresh);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"within(%s.QuoteAdvice)", "execution(* %s.Quote*.failed())"})
    void methodThatSpringCallsBesidesTheHandlersIsLimitedIfThePointcutMatchesNothingElse(String pointcut) {
        limiting("advice", pointcut.formatted(HERE))
                .withBean(QuoteController.class)
                .withBean(QuoteAdvice.class)
                .run(context -> {
                    QuoteAdvice advice = context.getBean(QuoteAdvice.class);
                    advice.failed();
                    assertRejected("advice", advice::failed);
                });
    }

    private static List<String> outcomes(ApplicationContext context) {
        return context.getBean(RecordingListener.class).outcomes();
    }

    public static class QuoteController {

        @GetMapping
        public void handle() {}

        @GetMapping
        @ModelAttribute
        public void handleWithModel() {}

        @ModelAttribute
        public void model() {}

        @InitBinder
        public void bind() {}
    }

    public static class QuoteLifecycle implements SmartLifecycle {

        @Override
        public void start() {}

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }

        public void refresh() {}
    }

    public static class QuoteAdvice {

        @ExceptionHandler
        public void failed() {}
    }

    @Configuration
    static class Factories {

        @Bean
        public String text() {
            return "text";
        }

        @Bean
        public NumberFactory number() {
            return new NumberFactory();
        }
    }

    public static class NumberFactory implements FactoryBean<Integer> {

        @Override
        public Integer getObject() {
            return 1;
        }

        @Override
        public Class<?> getObjectType() {
            return Integer.class;
        }
    }

    @Aspect
    public static class Auditor {

        public void audit() {}
    }

    public static class PortListener implements RateLimitListener {

        @Override
        public void onDecision(Charge charge, RateLimitDecision decision, Outcome outcome) {}
    }

    static class Keys implements RateLimitKeyResolver {

        @Override
        public Object resolve(RateLimitKeyContext call) {
            return "alice";
        }
    }

    static class Executor implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            throw new UnsupportedOperationException();
        }
    }

    static class Customizer implements RateLimitCustomizer {

        @Override
        public void customize(String name, RateLimitBuilder limit) {
            limit.capacity(1);
        }
    }
}
