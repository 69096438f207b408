package io.ratelimit.sample;

import java.io.IOException;
import java.net.ServerSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.NoneNestedConditions;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import redis.embedded.RedisServer;

/**
 * Starts and stops a redis-server with the application, so that the sample needs no installed Redis on Linux or macOS. Not
 * active if the configuration names a Redis. There is no redis-server for Windows: {@link WithoutRedisConfiguration}.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(EmbeddedRedisConfiguration.OnNoOtherRedis.class)
class EmbeddedRedisConfiguration {

    private static final Logger logger = LoggerFactory.getLogger(EmbeddedRedisConfiguration.class);

    private static final String LOOPBACK = "127.0.0.1";

    @Bean(initMethod = "start", destroyMethod = "stop")
    RedisServer redisServer() throws IOException {
        return RedisServer.builder()
                .port(freePort())
                .bind(LOOPBACK)
                .setting("save \"\"")
                .build();
    }

    /** Depends on the server, which therefore starts before the first connection and stops after the last. */
    @Bean
    DataRedisConnectionDetails redisConnectionDetails(RedisServer server) {
        DataRedisConnectionDetails.Standalone address = DataRedisConnectionDetails.Standalone.of(
                LOOPBACK, server.ports().get(0));
        logger.info("The embedded Redis is at {}:{}", address.getHost(), address.getPort());
        return new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
                return address;
            }
        };
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    static final class OnNoOtherRedis extends NoneNestedConditions {

        OnNoOtherRedis() {
            super(ConfigurationPhase.PARSE_CONFIGURATION);
        }

        @ConditionalOnProperty("spring.data.redis.host")
        static final class Host {}

        @ConditionalOnProperty("spring.data.redis.url")
        static final class Url {}

        @Conditional(OnWindows.class)
        static final class Windows {}
    }

    static final class OnWindows implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return context.getEnvironment().getProperty("os.name", "").startsWith("Windows");
        }
    }
}
