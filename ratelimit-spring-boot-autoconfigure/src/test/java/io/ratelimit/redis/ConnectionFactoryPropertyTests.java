package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.redis.SharedRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** {@code ratelimit.redis.connection-factory}. */
@Timeout(180)
class ConnectionFactoryPropertyTests {

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean("cache", LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
            .withBean("sessions", LettuceConnectionFactory.class, SharedRedis.get()::connect)
            .withPropertyValues("ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix());

    @Test
    void ofSeveralTheNamedOneIsUsed() {
        application
                .withPropertyValues("ratelimit.redis.connection-factory=sessions", "ratelimit.redis.timeout=20s")
                .run(context -> assertThat(context.getBean(StoreHealth.class).failures())
                        .isEmpty());
    }

    @Test
    void severalWithoutANameStopTheStartUpWithTheProperty() {
        application.run(context -> assertThat(context.getStartupFailure())
                .hasRootCauseInstanceOf(RateLimitConfigurationException.class)
                .rootCause()
                .hasMessage(
                        "ratelimit.redis.connection-factory must be set if none of several RedisConnectionFactory beans is"
                                + " primary. Set it to one of: cache, sessions."));
    }

    @Test
    void nameOfNoneStopsTheStartUpWithTheNamesThereAre() {
        application
                .withPropertyValues("ratelimit.redis.connection-factory=session")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessage(
                                "ratelimit.redis.connection-factory must be the name of a RedisConnectionFactory bean"
                                        + " (was \"session\"). Set it to one of: cache, sessions."));
    }
}
