package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
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
                .run(context -> {
                    Cart cart = (Cart) context.getBean("cart");
                    cart.add();
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .containsExactly("shopping-cart-add ALLOWED");
                    cart.add();
                    assertRejected("shopping-cart-add", cart::add);
                });
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
}
