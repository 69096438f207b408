package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.expression.MethodSignatures;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class LimitedMethodResolverTests {

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean("first", FirstQuotes.class, FirstQuotes::new)
            .withBean("second", SecondQuotes.class, SecondQuotes::new);

    /** Proxies of classes by one interface are of one class themselves, and pass the same method. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void eachClassHasItsOwnLimits(boolean proxyTargetClass) {
        runner.withPropertyValues("spring.aop.proxy-target-class=" + proxyTargetClass)
                .run(context -> {
                    Quotes first = (Quotes) context.getBean("first");
                    Quotes second = (Quotes) context.getBean("second");
                    for (int i = 0; i < 2; i++) {
                        first.quote();
                        second.quote();
                        first.order();
                    }
                    assertThat(context.getBean(RecordingListener.class).outcomes())
                            .containsExactly(
                                    "first ALLOWED",
                                    "second ALLOWED",
                                    "orders ALLOWED",
                                    "first ALLOWED",
                                    "second ALLOWED",
                                    "orders ALLOWED");
                });
    }

    @Test
    void findsTheSameForEveryObjectThatStandsForTheMethod() {
        runner.run(context -> {
            LimitedMethodResolver methods = context.getBean(LimitedMethodResolver.class);
            for (Class<?> type : List.of(FirstQuotes.class, SecondQuotes.class)) {
                LimitedMethod limited = methods.find(quote(), type).limited();
                for (int i = 0; i < 5_000; i++) {
                    assertThat(methods.find(quote(), type).limited()).isSameAs(limited);
                }
            }
            assertThat(methods.find(Quotes.class.getMethod("free"), FirstQuotes.class))
                    .isNull();
        });
    }

    /** What it derives refers to it. */
    @Test
    void limitedMethodIsDescribed() {
        runner.run(context -> {
            LimitedMethodResolver methods = context.getBean(LimitedMethodResolver.class);
            LimitedMethod limited = methods.find(quote(), FirstQuotes.class).limited();
            assertThat(limited).hasToString(MethodSignatures.describe(limited.method()));
        });
    }

    @Test
    void threadsThatAskForTheFirstTimeFindTheSame() {
        runner.run(context -> {
            LimitedMethodResolver methods = context.getBean(LimitedMethodResolver.class);
            LimitedMethod limited = methods.find(quote(), FirstQuotes.class).limited();
            List<CompletableFuture<LimitedMethod>> found = IntStream.range(0, 8)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> methods.find(quote(), FirstQuotes.class).limited()))
                    .toList();
            assertThat(found).allSatisfy(each -> assertThat(each.join()).isSameAs(limited));
        });
    }

    /** Each time another object. */
    private static Method quote() {
        try {
            return Quotes.class.getMethod("quote");
        } catch (NoSuchMethodException ex) {
            throw new AssertionError(ex);
        }
    }

    public interface Quotes {

        void quote();

        default void order() {}

        default void free() {}
    }

    public static class FirstQuotes implements Quotes {

        @Override
        @RateLimited(name = "first", rate = "10/s")
        public void quote() {}

        @Override
        @RateLimited(name = "orders", rate = "10/s")
        public void order() {}
    }

    public static class SecondQuotes implements Quotes {

        @Override
        @RateLimited(name = "second", rate = "10/s")
        public void quote() {}
    }
}
