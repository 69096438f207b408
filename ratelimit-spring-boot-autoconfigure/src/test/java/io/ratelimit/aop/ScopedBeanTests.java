package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactoryBean;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.LazyInitTargetSource;
import org.springframework.aop.target.PrototypeTargetSource;
import org.springframework.aop.target.ThreadLocalTargetSource;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.support.SimpleThreadScope;

class ScopedBeanTests {

    enum Proxies {
        CLASS(ClassProxies.class),
        INTERFACE(InterfaceProxies.class),
        ANNOTATED_INTERFACE(AnnotatedInterfaceProxies.class);

        private final Class<?> configuration;

        Proxies(Class<?> configuration) {
            this.configuration = configuration;
        }
    }

    @ParameterizedTest
    @EnumSource
    void callThroughAScopedProxyIsChargedOnce(Proxies proxies) {
        LimitedContexts.inMemory()
                .withUserConfiguration(ThreadScope.class, proxies.configuration)
                .run(context -> assertChargedOnce(context, context.getBean("cart", Cart.class)));
    }

    /** The target of a call is a bean with limits of its own. */
    @ParameterizedTest
    @ValueSource(classes = {LazyInitTargetSource.class, PrototypeTargetSource.class, ThreadLocalTargetSource.class})
    void callThroughAProxyWithATargetSourceIsChargedOnce(Class<? extends AbstractBeanFactoryBasedTargetSource> type) {
        LimitedContexts.inMemory()
                .withBean(AbstractBeanFactoryBasedTargetSource.class, () -> {
                    AbstractBeanFactoryBasedTargetSource source = BeanUtils.instantiateClass(type);
                    source.setTargetBeanName("target");
                    return source;
                })
                .withUserConfiguration(TargetSourceProxy.class)
                .run(context -> assertChargedOnce(context, context.getBean("cart", Cart.class)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callThroughAProxyWhoseTargetMayChangeIsChargedOnce(boolean changed) {
        LimitedContexts.inMemory().withUserConfiguration(SwappedTarget.class).run(context -> {
            Cart cart = context.getBean("cart", Cart.class);
            if (changed) {
                ((HotSwappableTargetSource) ((Advised) cart).getTargetSource()).swap(new ShoppingCart());
            }
            assertChargedOnce(context, cart);
        });
    }

    private static void assertChargedOnce(ApplicationContext context, Cart cart) {
        cart.add();
        assertThat(context.getBean(RecordingListener.class).outcomes()).containsExactly("shopping-cart-add ALLOWED");
        cart.add();
        assertRejected("shopping-cart-add", cart::add);
    }

    public interface Cart {

        void add();
    }

    public static class ShoppingCart implements Cart {

        @Override
        @RateLimited(rate = "2/s")
        public void add() {}
    }

    public interface AnnotatedCart extends Cart {

        @Override
        @RateLimited(name = "shopping-cart-add", rate = "2/s")
        void add();
    }

    @Configuration(proxyBeanMethods = false)
    static class AnnotatedInterfaceProxies {

        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
        AnnotatedCart cart() {
            return () -> {};
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ThreadScope {

        @Bean
        static BeanFactoryPostProcessor threadScope() {
            return beans -> beans.registerScope("thread", new SimpleThreadScope());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ClassProxies {

        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
        ShoppingCart cart() {
            return new ShoppingCart();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class InterfaceProxies {

        @Bean
        @Scope(scopeName = "thread", proxyMode = ScopedProxyMode.INTERFACES)
        ShoppingCart cart() {
            return new ShoppingCart();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SwappedTarget {

        @Bean
        ShoppingCart target() {
            return new ShoppingCart();
        }

        @Bean
        ProxyFactoryBean cart(ObjectProvider<ShoppingCart> target) {
            ProxyFactoryBean cart = new ProxyFactoryBean();
            cart.setProxyTargetClass(true);
            cart.setTargetSource(new HotSwappableTargetSource(target.getObject()));
            return cart;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TargetSourceProxy {

        @Bean
        @Scope("prototype")
        ShoppingCart target() {
            return new ShoppingCart();
        }

        @Bean
        ProxyFactoryBean cart(TargetSource targetSource) {
            ProxyFactoryBean cart = new ProxyFactoryBean();
            cart.setTargetSource(targetSource);
            return cart;
        }
    }
}
