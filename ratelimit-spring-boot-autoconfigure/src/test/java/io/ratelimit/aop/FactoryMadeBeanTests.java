package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;

/** Interfaces without a class of their own: repositories, declarative HTTP clients. */
class FactoryMadeBeanTests {

    enum Style {

        /** As plain as it gets: one invocation handler. */
        PLAIN_PROXY {
            @Override
            <T> T make(Class<T> type) {
                InvocationHandler answer = (proxy, method, args) -> method.getName();
                return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, answer));
            }
        },

        /** As Spring makes its HTTP clients: advice, and no target. */
        ADVICE_WITHOUT_TARGET {
            @Override
            <T> T make(Class<T> type) {
                return ProxyFactory.getProxy(type, (MethodInterceptor)
                        invocation -> invocation.getMethod().getName());
            }
        },

        /** As Spring Data makes repositories: the target knows nothing of the interface. */
        ADVICE_BEFORE_ANOTHER_TARGET {
            @Override
            <T> T make(Class<T> type) {
                ProxyFactory factory = new ProxyFactory();
                factory.setTarget(new Object());
                factory.setInterfaces(type);
                factory.addAdvice(
                        (MethodInterceptor) invocation -> invocation.getMethod().getName());
                return type.cast(factory.getProxy());
            }
        };

        abstract <T> T make(Class<T> type);
    }

    @ParameterizedTest
    @EnumSource
    void annotatedMethodIsLimitedByItsKey(Style style) {
        with(style, child -> {
            assertThat(child.find("a")).isEqualTo("find");
            assertRejected("find", () -> child.find("a"));
            assertThat(child.find("b")).isEqualTo("find");
        });
    }

    @ParameterizedTest
    @EnumSource
    void annotatedInterfaceCoversWhatItInherits(Style style) {
        with(style, child -> {
            assertThat(child.inherited()).isEqualTo("inherited");
            assertRejected("child", child::inherited);
        });
    }

    @ParameterizedTest
    @EnumSource
    void placeIsTheInterfacesMethod(Style style) {
        LimitedContexts.inMemory()
                .withBean("child", ChildFactory.class, () -> new ChildFactory(() -> style.make(Child.class)))
                .run(context -> {
                    context.getBean(Child.class);
                    assertThat(context.getBean(LimitedBeans.class).check().values())
                            .flatExtracting(Map::keySet)
                            .containsExactlyInAnyOrder(
                                    Child.class.getName() + ".find(String)", Parent.class.getName() + ".inherited()");
                });
    }

    private static void with(Style style, Consumer<Child> test) {
        LimitedContexts.inMemory()
                .withBean("child", ChildFactory.class, () -> new ChildFactory(() -> style.make(Child.class)))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    test.accept(context.getBean(Child.class));
                    assertThat(context.getBean(RecordingListener.class).limits())
                            .containsExactlyInAnyOrder("find", "child");
                });
    }

    interface Parent {

        String inherited();
    }

    @RateLimited(rate = "1/s")
    interface Child extends Parent {

        @RateLimited(name = "find", rate = "1/s", keyExpression = "#id")
        String find(String id);
    }

    record ChildFactory(Supplier<Child> source) implements FactoryBean<Child> {

        @Override
        public Child getObject() {
            return source.get();
        }

        @Override
        public Class<?> getObjectType() {
            return Child.class;
        }
    }

    /** Nothing limits it but what the configuration says. */
    interface PlainChild extends Parent {

        String find(String id);
    }

    record PlainChildFactory(Style style) implements FactoryBean<PlainChild> {

        @Override
        public PlainChild getObject() {
            return style.make(PlainChild.class);
        }

        @Override
        public Class<?> getObjectType() {
            return PlainChild.class;
        }
    }
}
