package io.ratelimit.autoconfigure.redis;

import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration that puts Spring Boot's connection to Redis back in its place, if {@link RedisAutoConfigurationFilter} left
 * it out and the application declares a bean that provides a connection, tells where to connect to, or uses a connection.
 */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
        },
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@Conditional(ApplicationRedisAutoConfiguration.OnDeclaredRedis.class)
@Import(ApplicationRedisAutoConfiguration.LeftOut.class)
public final class ApplicationRedisAutoConfiguration {

    /** Names of both generations of Spring Boot. Repositories are those of {@code @EnableRedisRepositories}. */
    public static final List<String> BEANS = List.of(
            "org.springframework.data.redis.connection.RedisConnectionFactory",
            "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails",
            "org.springframework.data.redis.cache.RedisCacheConfiguration",
            "org.springframework.boot.autoconfigure.cache.RedisCacheManagerBuilderCustomizer",
            "org.springframework.boot.cache.autoconfigure.RedisCacheManagerBuilderCustomizer",
            "org.springframework.data.redis.core.RedisOperations",
            "org.springframework.data.redis.core.ReactiveRedisOperations",
            "org.springframework.data.redis.listener.RedisMessageListenerContainer",
            "org.springframework.data.redis.repository.support.RedisRepositoryFactoryBean");

    record LeftOut(BeanFactory beans) implements ImportSelector {

        @Override
        public String[] selectImports(AnnotationMetadata importing) {
            return RedisAutoConfigurationFilter.leftOut((SingletonBeanRegistry) beans)
                    .toArray(String[]::new);
        }
    }

    static class OnDeclaredRedis extends SpringBootCondition implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beans = Objects.requireNonNull(context.getBeanFactory());
            List<String> declared = RedisAutoConfigurationFilter.leftOut(beans).isEmpty() ? List.of() : declared(beans);
            return new ConditionOutcome(!declared.isEmpty(), "beans of the application that use Redis: " + declared);
        }

        private static List<String> declared(ConfigurableListableBeanFactory beans) {
            ClassLoader classes = beans.getBeanClassLoader();
            return BEANS.stream()
                    .filter(type -> ClassUtils.isPresent(type, classes))
                    .map(type -> ClassUtils.resolveClassName(type, classes))
                    .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                    .toList();
        }
    }
}
