package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;

class ProxyingTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory();

    static Stream<Arguments> settings() {
        ApplicationContextRunner plain = LimitedContexts.inMemory();
        ApplicationContextRunner aop = plain.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class));
        return Stream.of(
                Arguments.of("no auto-proxying", plain, true),
                Arguments.of("Spring Boot's default", aop, true),
                Arguments.of("JDK proxies", aop.withPropertyValues("spring.aop.proxy-target-class=false"), false),
                Arguments.of("without auto-proxying", aop.withPropertyValues("spring.aop.auto=false"), true),
                Arguments.of(
                        "without aspectjweaver", aop.withClassLoader(new FilteredClassLoader("org.aspectj")), true));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    void limitsWhateverProxiesTheApplicationUses(String name, ApplicationContextRunner runner, boolean classBased) {
        runner.withBean(MarketQuotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(AopUtils.isCglibProxy(quotes)).isEqualTo(classBased);
            assertThat(quotes.quote("a")).isEqualTo("a");
            assertRejected("market-quotes-quote", () -> quotes.quote("a"));
        });
    }

    @Test
    void beanWithoutLimitedMethodsIsNotProxied() {
        runner.withBean(Unlimited.class)
                .run(context -> assertThat(AopUtils.isAopProxy(context.getBean(Unlimited.class)))
                        .isFalse());
    }

    @Test
    void finalClassIsProxiedByItsInterface() {
        runner.withBean(FinalQuotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("a");
            assertRejected("final-quotes-quote", () -> quotes.quote("a"));
        });
    }

    @Test
    void targetOfAnotherClassHasItsOwnLimits() {
        runner.withBean(MarketQuotes.class).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("a");
            ((Advised) quotes).setTargetSource(new SingletonTargetSource(new HaltedQuotes()));
            assertThat(quotes.quote("a")).isEqualTo("halted");
            assertThat(quotes.quote("a")).isEqualTo("halted");
        });
    }

    @Test
    void recordIsProxiedByItsInterface() {
        runner.withBean("quotes", RecordQuotes.class, () -> new RecordQuotes(1)).run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("a");
            assertRejected("record-quotes-quote", () -> quotes.quote("a"));
        });
    }

    @Test
    void lambdaIsLimitedByItsInterfacesAnnotation() {
        runner.withUserConfiguration(Lambdas.class).run(context -> {
            KeyedQuotes quotes = context.getBean(KeyedQuotes.class);
            assertThat(quotes.quote("a")).isEqualTo("quote of a");
            assertRejected("keyed", () -> quotes.quote("a"));
            assertThat(quotes.quote("b")).isEqualTo("quote of b");
        });
    }

    @Test
    void packagePrivateMethodIsLimited() {
        runner.withBean(PackagePrivate.class).run(context -> {
            PackagePrivate bean = context.getBean(PackagePrivate.class);
            bean.call();
            assertRejected("package-private-call", bean::call);
        });
    }

    @Test
    void prototypeBeansShareTheLimit() {
        runner.withUserConfiguration(Prototypes.class).run(context -> {
            context.getBean(MarketQuotes.class).quote("a");
            assertRejected(
                    "market-quotes-quote",
                    () -> context.getBean(MarketQuotes.class).quote("a"));
        });
    }

    public interface Quotes {

        String quote(String id);
    }

    public static class MarketQuotes implements Quotes {

        @Override
        @RateLimited(rate = "1/s")
        public String quote(String id) {
            return id;
        }
    }

    static class HaltedQuotes extends MarketQuotes {

        @Override
        @RateLimited(rate = "2/s")
        public String quote(String id) {
            return "halted";
        }
    }

    static class Unlimited {

        public String quote(String id) {
            return id;
        }
    }

    static final class FinalQuotes implements Quotes {

        @Override
        @RateLimited(rate = "1/s")
        public String quote(String id) {
            return id;
        }
    }

    record RecordQuotes(int number) implements Quotes {

        @Override
        @RateLimited(rate = "1/s")
        public String quote(String id) {
            return id + number;
        }
    }

    interface KeyedQuotes {

        @RateLimited(name = "keyed", rate = "1/s", keyExpression = "#id")
        String quote(String id);
    }

    static class PackagePrivate {

        @RateLimited(rate = "1/s")
        void call() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Lambdas {

        @Bean
        KeyedQuotes quotes() {
            return id -> "quote of " + id;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Prototypes {

        @Bean
        @Scope("prototype")
        MarketQuotes quotes() {
            return new MarketQuotes();
        }
    }
}
