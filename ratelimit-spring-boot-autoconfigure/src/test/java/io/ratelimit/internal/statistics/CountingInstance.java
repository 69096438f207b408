package io.ratelimit.internal.statistics;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitStatisticsAutoConfiguration;
import java.time.Duration;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** One instance of an application that counts, with connections of its own. */
final class CountingInstance implements AutoCloseable {

    /** Capacity 10 at 10 an hour. */
    static final String QUOTES = "quotes";

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    CountingInstance(int port, String prefix, String... properties) {
        this(Stream.concat(
                        Stream.of(
                                "ratelimit.redis.host=127.0.0.1",
                                "ratelimit.redis.port=" + port,
                                "ratelimit.redis.key-prefix=" + prefix),
                        Stream.of(properties))
                .toArray(String[]::new));
    }

    CountingInstance(String... properties) {
        TestPropertyValues.of(
                        "ratelimit.redis.timeout=5s",
                        "ratelimit.limits.quotes.rate=10/h",
                        "ratelimit.statistics.enabled=true")
                .and(properties)
                .applyTo(context);
        context.register(AutoConfigurations.getClasses(
                AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitStatisticsAutoConfiguration.class)));
        context.refresh();
    }

    AnnotationConfigApplicationContext context() {
        return context;
    }

    RateLimiter limiter(String limit) {
        return context.getBean(RateLimiterRegistry.class).get(limit);
    }

    void call(String key, int calls) {
        for (int i = 0; i < calls; i++) {
            limiter(QUOTES).tryAcquire(key);
        }
    }

    Figures figures() {
        return figures(QUOTES);
    }

    Figures figures(String limit) {
        return context.getBean(RateLimitStatistics.class).read(Duration.ofMinutes(15), limit);
    }

    CallCounts lastMinute() {
        return figures().lastMinute(QUOTES);
    }

    /** Ends the process, as far as the others can tell: without a goodbye. */
    void kill() {
        context.getBean(RateLimitStatistics.class).close();
    }

    @Override
    public void close() {
        context.close();
    }
}
