package io.ratelimit.sample;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.PropertySource;
import org.springframework.core.env.Environment;

/** Counts in memory on Windows, unless the configuration names a store or a Redis. */
@Configuration(proxyBeanMethods = false)
@Conditional({EmbeddedRedisConfiguration.OnWindows.class, WithoutRedisConfiguration.OnNoStore.class})
@PropertySource("classpath:without-redis.properties")
class WithoutRedisConfiguration {

    private static final Logger logger = LoggerFactory.getLogger(WithoutRedisConfiguration.class);

    WithoutRedisConfiguration(Environment environment) {
        logger.info(
                "The sample has no redis-server for {}, so it counts in memory. To count in a Redis of yours, set spring.data.redis.host",
                environment.getProperty("os.name"));
    }

    static final class OnNoStore extends NoneNestedConditions {

        OnNoStore() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnProperty("ratelimit.store")
        static final class Store {}

        @ConditionalOnProperty("ratelimit.redis.host")
        static final class Host {}

        @ConditionalOnProperty("ratelimit.redis.url")
        static final class Url {}

        @ConditionalOnProperty("spring.data.redis.host")
        static final class SpringHost {}

        @ConditionalOnProperty("spring.data.redis.url")
        static final class SpringUrl {}
    }
}
