package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitPlan;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.SmallApplication;
import io.ratelimit.spi.RateLimitPlanResolver;
import java.lang.reflect.Proxy;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

@ExtendWith(OutputCaptureExtension.class)
class EarlyBeanTests {

    private static final String TOO_EARLY = "not eligible for getting processed by all BeanPostProcessors";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    @Test
    void beanThatAnEarlierPostProcessorNeedsStopsTheStartUp() {
        runner.withBean("quotes", Quotes.class, Quotes::new)
                .withUserConfiguration(Needy.class)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .contains("Where: " + Quotes.class.getName() + ".quote()")
                            .contains("(was 'quotes'): it was created before beans are proxied");
                    assertThat(analysis.getAction())
                            .startsWith("Let no BeanPostProcessor depend on it, or take it by ObjectProvider;");
                });
    }

    @Test
    void beanThatAPostProcessorOfTheFactoryNeedsStopsTheStartUp() {
        runner.withBean("quotes", Quotes.class, Quotes::new)
                .withBean(BeanFactoryPostProcessor.class, () -> beans -> beans.getBean("quotes"))
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("(was 'quotes'): it was created before beans are proxied"));
    }

    @Test
    void beanThatAPostProcessorOfTheRegistryNeedsStopsTheStartUp() {
        runner.withUserConfiguration(NeedyRegistry.class)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("(was 'quotes'): it was created before beans are proxied"));
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedyRegistry {

        @Bean
        static Quotes quotes() {
            return new Quotes();
        }

        @Bean
        static BeanDefinitionRegistryPostProcessor needy(Quotes quotes) {
            return registry -> {};
        }
    }

    @Test
    void beanThatALaterPostProcessorNeedsIsLimited() {
        runner.withBean("quotes", Quotes.class, Quotes::new)
                .withUserConfiguration(NeedyLate.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    context.getBean(Quotes.class).quote();
                    assertRejected("quotes-quote", context.getBean(Quotes.class)::quote);
                });
    }

    /** Spring creates no other beans then. */
    @Test
    void beanThatIsCreatedInTheBackgroundIsLimited() {
        runner.withUserConfiguration(Background.class)
                .withPropertyValues("ratelimit.limits.planned.plans.gold.capacity=2")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    PlannedQuotes quotes = context.getBean(PlannedQuotes.class);
                    quotes.quote("alice");
                    quotes.quote("alice");
                    assertRejected("planned", () -> quotes.quote("alice"));
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class Background {

        @Bean
        Executor bootstrapExecutor() {
            return new SimpleAsyncTaskExecutor();
        }

        @Bean(bootstrap = Bean.Bootstrap.BACKGROUND)
        PlannedQuotes quotes() {
            return new PlannedQuotes();
        }

        @Bean
        RateLimitPlanResolver plans() {
            return (limit, key) -> RateLimitPlan.named("gold");
        }
    }

    static class PlannedQuotes {

        @RateLimited(name = "planned", rate = "1/h", keyExpression = "#user")
        public void quote(String user) {}
    }

    @Test
    void beanThatAnotherPostProcessorHasHiddenStopsTheStartUp() {
        runner.withBean("quotes", ImplementedQuotes.class, ImplementedQuotes::new)
                .withBean(WrappingPostProcessor.class, () -> new WrappingPostProcessor(Ordered.HIGHEST_PRECEDENCE))
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + ImplementedQuotes.class.getName() + ".serve()")
                        .contains("or another BeanPostProcessor has wrapped it"));
    }

    @Test
    void beanThatAnotherPostProcessorWrapsOnceMoreIsFine() {
        runner.withBean("quotes", ImplementedQuotes.class, ImplementedQuotes::new)
                .withBean(Late.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    Service service = context.getBean(Service.class);
                    service.serve();
                    assertRejected("implemented-quotes-serve", service::serve);
                });
    }

    @Test
    void nothingOfRedisIsCreatedBeforeItsTime(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .withBean(Quotes.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(output).doesNotContain(TOO_EARLY);
                });
    }

    @Test
    void nothingOfAWholeApplicationIsCreatedBeforeItsTime(CapturedOutput output) {
        assertThat(SmallApplication.run("--spring.main.web-application-type=none", "--spring.data.redis.port=1"))
                .isEqualTo("limited");
        assertThat(output).doesNotContain(TOO_EARLY);
    }

    static class Quotes {

        @RateLimited(rate = "1/s")
        public String quote() {
            return "quote";
        }
    }

    interface Service {

        void serve();
    }

    static class ImplementedQuotes implements Service {

        @Override
        @RateLimited(rate = "1/s")
        public void serve() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Needy {

        @Bean
        static NeedyPostProcessor needyPostProcessor(Quotes quotes) {
            return new NeedyPostProcessor(quotes);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NeedyLate {

        @Bean
        static BeanPostProcessor needyPostProcessor(Quotes quotes) {
            return new BeanPostProcessor() {
                @Override
                public Object postProcessBeforeInitialization(Object bean, String beanName) {
                    assertThat(quotes).isNotNull();
                    return bean;
                }
            };
        }
    }

    record NeedyPostProcessor(Quotes quotes) implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }
    }

    /** Without an order, so after all that have one. */
    static class Late implements BeanPostProcessor {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            return new WrappingPostProcessor(0).postProcessAfterInitialization(bean, beanName);
        }
    }

    record WrappingPostProcessor(int order) implements BeanPostProcessor, Ordered {

        @Override
        public Object postProcessAfterInitialization(Object bean, String beanName) {
            if (!beanName.equals("quotes")) {
                return bean;
            }
            return Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Service.class}, (proxy, method, args) -> {
                        ((Service) bean).serve();
                        return null;
                    });
        }

        @Override
        public int getOrder() {
            return order;
        }
    }
}
