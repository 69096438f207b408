package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.annotation.Qualifier;
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

    @Test
    void callIsChargedOnceIfABeanIsAnotherOneOrAProxyOfIt() {
        runner.withUserConfiguration(SeveralNames.class).run(context -> {
            context.getBean("alias", AnnotatedQuotes.class).quote("a");
            context.getBean("proxy", AnnotatedQuotes.class).quote("a");
            context.getBean("quotes", AnnotatedQuotes.class).quote("a");
            assertThat(context.getBean(RecordingListener.class).outcomes()).hasSize(3);
        });
    }

    @Test
    void interfaceThatAProxyOfAnotherBeanAddsIsLimited() {
        runner.withUserConfiguration(Introducing.class).run(context -> {
            Audit audit = context.getBean(Audit.class);
            audit.audit();
            assertRejected("audits", audit::audit);
        });
    }

    @Test
    void beanOfTheParentIsChargedOnceInTheChild() {
        runner.withBean("quotes", TwoQuotes.class)
                .run(parent -> LimitedContexts.inMemory()
                        .withParent(parent)
                        .withBean("again", TwoQuotes.class, () -> parent.getBean(TwoQuotes.class))
                        .run(child -> {
                            TwoQuotes again = child.getBean("again", TwoQuotes.class);
                            again.quote();
                            again.quote();
                            assertRejected("two", again::quote);
                        }));
    }

    static class TwoQuotes {

        @RateLimited(name = "two", rate = "2/h")
        public void quote() {}
    }

    interface Audit {

        @RateLimited(name = "audits", rate = "1/h")
        void audit();
    }

    @Configuration(proxyBeanMethods = false)
    static class Introducing {

        @Bean
        MarketQuotes quotes() {
            return new MarketQuotes();
        }

        @Bean
        Audit audited(MarketQuotes quotes) {
            ProxyFactory factory = new ProxyFactory();
            factory.setTarget(quotes);
            factory.setInterfaces(Quotes.class, Audit.class);
            Audit mixin = () -> {};
            factory.addAdvisor(
                    new DefaultIntroductionAdvisor(new DelegatingIntroductionInterceptor(mixin), Audit.class));
            return (Audit) factory.getProxy();
        }
    }

    /** The interface has a bridge for callers that know its generic parent alone. */
    @Test
    void proxyOfAnInterfaceIsLimitedAlsoByItsGenericParent() {
        runner.withUserConfiguration(Generic.class).run(context -> {
            KeyedByGeneric quotes = context.getBean(KeyedByGeneric.class);
            assertThat(quotes.quote("a")).isEqualTo("quote");
            assertRejected("generic", () -> quotes.quote("a"));
            assertRejected("generic", () -> ((GenericQuotes<String>) quotes).quote("a"));
            ((GenericQuotes<String>) quotes).quote("b");
            assertRejected("generic", () -> quotes.quote("b"));
        });
    }

    public interface GenericQuotes<T> {

        String quote(T id);
    }

    public interface KeyedByGeneric extends GenericQuotes<String> {

        @Override
        @RateLimited(name = "generic", rate = "1/s", keyExpression = "#id")
        String quote(String id);
    }

    @Configuration(proxyBeanMethods = false)
    static class Generic {

        @Bean
        KeyedByGeneric generic() {
            return (KeyedByGeneric) Proxy.newProxyInstance(
                    Generic.class.getClassLoader(),
                    new Class<?>[] {KeyedByGeneric.class},
                    (proxy, method, arguments) -> method.getDeclaringClass() == Object.class ? 1 : "quote");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SeveralNames {

        @Bean
        AnnotatedQuotes quotes() {
            return id -> id;
        }

        @Bean
        AnnotatedQuotes alias(@Qualifier("quotes") AnnotatedQuotes quotes) {
            return quotes;
        }

        @Bean
        ProxyFactoryBean proxy() {
            ProxyFactoryBean factory = new ProxyFactoryBean();
            factory.setInterfaces(AnnotatedQuotes.class);
            factory.setTargetName("quotes");
            return factory;
        }
    }

    public interface AnnotatedQuotes extends GenericQuotes<String> {

        @Override
        @RateLimited(name = "annotated", rate = "100/s")
        String quote(String id);
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
