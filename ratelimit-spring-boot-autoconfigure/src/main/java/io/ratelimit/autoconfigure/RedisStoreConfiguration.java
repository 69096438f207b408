package io.ratelimit.autoconfigure;

import io.ratelimit.autoconfigure.StoreConfiguration.StoreWarmUp;
import io.ratelimit.redis.GuardedRedis;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisConnector;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisOperations;

/** The way to Redis, unless the store is another. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisOperations.class)
@Conditional(RedisStoreConfiguration.OnRedisStore.class)
class RedisStoreConfiguration {

    @Bean
    @ConditionalOnBean(RedisConnectionFactory.class)
    @ConditionalOnMissingBean(RateLimitScriptExecutor.class)
    RedisConnector rateLimitScriptExecutor(RedisConnectionFactory connections, RateLimitProperties properties) {
        return new RedisConnector(connections, properties.redis().timeout());
    }

    @Bean
    @ConditionalOnBean(RateLimitScriptExecutor.class)
    GuardedRedis rateLimitRedis(RateLimitScriptExecutor executor, RateLimitProperties properties) {
        return new GuardedRedis(
                executor, properties.redis().timeout(), properties.redis().keyPrefix());
    }

    @Bean
    @ConditionalOnBean(RedisConnector.class)
    StoreWarmUp rateLimitRedisWarmUp(RedisConnector connector, GuardedRedis redis) {
        return () -> {
            if (connector.connect()) {
                redis.warmUp();
            }
        };
    }

    static class OnRedisStore extends SpringBootCondition {

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            RateLimitProperties.StoreType store = Binder.get(context.getEnvironment())
                    .bind("ratelimit.store", RateLimitProperties.StoreType.class)
                    .orElse(RateLimitProperties.StoreType.REDIS);
            return new ConditionOutcome(
                    store == RateLimitProperties.StoreType.REDIS,
                    ConditionMessage.forCondition("ratelimit.store").because("is " + store));
        }
    }
}
