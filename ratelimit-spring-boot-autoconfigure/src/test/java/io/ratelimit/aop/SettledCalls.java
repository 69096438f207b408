package io.ratelimit.aop;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.aop.TokenModel.Answer;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.TestClock;
import java.util.function.BiConsumer;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Runs calls of a {@link TokenModel} at a time that stands still. */
final class SettledCalls {

    final TestClock clock = new TestClock();

    final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store=in-memory")
            .withBean(TimeSource.class, () -> clock)
            .withBean("sum", Collector.class, () -> Collectors.summingInt(Answer::tokens))
            .withBean(TokenModel.class);

    void with(BiConsumer<TokenModel, RateLimiterRegistry> test) {
        runner.run(
                context -> test.accept(context.getBean(TokenModel.class), context.getBean(RateLimiterRegistry.class)));
    }

    static long used(RateLimiterRegistry limiters, String limit) {
        return 100 - limiters.get(limit).allCallers().peek().remaining();
    }
}
