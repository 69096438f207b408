package io.ratelimit.redis.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.redis.OtherConnectionFactory;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.redis.SharedRedis;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What an application has leased is there for the others when it has been shut down. */
@Timeout(180)
class LeasesAtShutdownTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    enum Driver {
        LETTUCE,
        ANOTHER
    }

    private final String prefix = RedisUnderTest.newPrefix();

    @ParameterizedTest
    @EnumSource
    void whatWasNotHandedOutIsRefunded(Driver driver) {
        AnnotationConfigApplicationContext context = start(driver);
        RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("quotes");
        RateLimit limit = context.getBean(LimitCatalog.class).find("quotes").orElseThrow();
        int calls = 0;
        while (limiter.peek("alice").remaining() == limit.capacity() - calls) {
            assertThat(limiter.tryAcquire("alice").allowed()).isTrue();
            calls++;
        }
        context.close();
        RedisConnector connector = new RedisConnector(
                redis.connections(), Duration.ofSeconds(20), RateLimitScript.load(), RateLimitLibrary.load());
        try {
            RedisRateLimitStore others = TestStores.over(connector, prefix);
            assertThat(others.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(limit.capacity() - calls);
        } finally {
            connector.destroy();
        }
    }

    private AnnotationConfigApplicationContext start(Driver driver) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        TestPropertyValues.of(
                        "ratelimit.redis.key-prefix=" + prefix,
                        "ratelimit.redis.timeout=10s",
                        "ratelimit.limits.quotes.algorithm=sliding-window",
                        "ratelimit.limits.quotes.rate=1000/d",
                        "ratelimit.limits.quotes.lease=100")
                .applyTo(context);
        LettuceConnectionFactory connections = new LettuceConnectionFactory(
                SharedRedis.get().host(), SharedRedis.get().port());
        if (driver == Driver.LETTUCE) {
            context.registerBean("connections", LettuceConnectionFactory.class, () -> connections);
        } else {
            context.registerBean(
                    "lettuce",
                    LettuceConnectionFactory.class,
                    () -> connections,
                    definition -> definition.setAutowireCandidate(false));
            context.registerBean(
                    "connections",
                    RedisConnectionFactory.class,
                    () -> new OtherConnectionFactory(context.getBean("lettuce", LettuceConnectionFactory.class)));
        }
        context.register(AutoConfigurations.getClasses(AutoConfigurations.of(RateLimitAutoConfiguration.class)));
        context.refresh();
        return context;
    }
}
