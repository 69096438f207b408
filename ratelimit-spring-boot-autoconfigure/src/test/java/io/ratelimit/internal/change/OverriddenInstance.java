package io.ratelimit.internal.change;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.RateLimitsEndpoint;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.actuate.RateLimitsEndpointAutoConfiguration;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.redis.change.RedisChangeChannel;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** One instance of an application, whose limit can be overridden. */
final class OverriddenInstance implements AutoCloseable {

    /** Capacity 10 at 10 an hour. */
    static final String QUOTES = "quotes";

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private final List<RateLimitChangedEvent> events = new CopyOnWriteArrayList<>();

    OverriddenInstance(int port, String prefix, String... properties) {
        this(Stream.concat(
                        Stream.of(
                                "ratelimit.redis.host=127.0.0.1",
                                "ratelimit.redis.port=" + port,
                                "ratelimit.redis.key-prefix=" + prefix),
                        Stream.of(properties))
                .toArray(String[]::new));
    }

    static OverriddenInstance onCluster(String node, String... properties) {
        return new OverriddenInstance(
                Stream.concat(Stream.of("ratelimit.redis.cluster.nodes=" + node), Stream.of(properties))
                        .toArray(String[]::new));
    }

    private OverriddenInstance(String[] properties) {
        TestPropertyValues.of(
                        "ratelimit.redis.timeout=5s",
                        "ratelimit.limits.quotes.rate=10/h",
                        "management.endpoints.web.exposure.include=ratelimits")
                .and(properties)
                .applyTo(context);
        context.registerBean(ChangeListener.class, () -> events::add);
        context.register(AutoConfigurations.getClasses(
                AutoConfigurations.of(RateLimitAutoConfiguration.class, RateLimitsEndpointAutoConfiguration.class)));
        context.refresh();
    }

    RateLimitAdmin admin() {
        return context.getBean(RateLimitAdmin.class);
    }

    RateLimitsEndpoint endpoint() {
        return context.getBean(RateLimitsEndpoint.class);
    }

    RateLimiter limiter() {
        return limiter(QUOTES);
    }

    RateLimiter limiter(String limit) {
        return context.getBean(RateLimiterRegistry.class).get(limit);
    }

    RateLimit limit() {
        return admin().status(QUOTES).effective();
    }

    List<RateLimitChangedEvent> events() {
        return events;
    }

    /** Returns what tells other instances of changes. */
    RedisChangeChannel channel() {
        return context.getBean(RedisChangeChannel.class);
    }

    @Override
    public void close() {
        context.close();
    }
}
