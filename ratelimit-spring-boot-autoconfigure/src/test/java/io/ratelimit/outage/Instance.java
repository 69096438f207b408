package io.ratelimit.outage;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** One instance of an application: what the auto-configuration makes of its properties. Nothing comes back in its limits. */
final class Instance implements AutoCloseable {

    /** A limit that is soon used up. */
    static final String SMALL = "small";

    static final int SMALL_CAPACITY = 5;

    /** A limit that rejects no call, and so counts calls. */
    static final String AMPLE = "ample";

    static final long AMPLE_CAPACITY = 1_000_000;

    private static final List<String> LIMITS = List.of(
            "ratelimit.limits.small.capacity=" + SMALL_CAPACITY,
            "ratelimit.limits.small.rate=1/h",
            "ratelimit.limits.ample.capacity=" + AMPLE_CAPACITY,
            "ratelimit.limits.ample.rate=1/h");

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    Instance(List<String> properties, Class<?>... beans) {
        TestPropertyValues.of(Stream.concat(LIMITS.stream(), properties.stream()))
                .applyTo(context);
        context.registerBean(SimpleMeterRegistry.class);
        Stream.of(beans).forEach(bean -> context.registerBean(bean));
        context.register(AutoConfigurations.getClasses(
                AutoConfigurations.of(DataRedisAutoConfiguration.class, RateLimitAutoConfiguration.class)));
        context.refresh();
    }

    RateLimiter limiter(String limit) {
        return context.getBean(RateLimiterRegistry.class).get(limit);
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    /** What has been taken of the ample limit, by the word of Redis or, while that cannot say, by this instance's. */
    long taken(String key) {
        return AMPLE_CAPACITY - limiter(AMPLE).peek(key).remaining();
    }

    /** Decisions that Redis made. */
    long decided() {
        return count("success");
    }

    /** Decisions that Redis was to make and did not. */
    long notDecided() {
        return sentInVain() + count("short_circuited") + count("stalled");
    }

    /** Those that Redis was, or may have been, asked for. */
    long sentInVain() {
        return count("timeout") + count("error");
    }

    private long count(String outcome) {
        return context
                .getBean(MeterRegistry.class)
                .find("ratelimit.store")
                .tags("store", "redis", "outcome", outcome)
                .timers()
                .stream()
                .mapToLong(Timer::count)
                .sum();
    }

    @Override
    public void close() {
        context.close();
    }
}
