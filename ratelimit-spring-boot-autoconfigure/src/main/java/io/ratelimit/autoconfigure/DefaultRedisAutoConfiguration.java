package io.ratelimit.autoconfigure;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Auto-configuration that hides Spring Boot's connection to Redis at its default address from the conditions of caches,
 * repositories, sessions and health, if the application neither configures nor declares a Redis. Limits and injection points
 * find it.
 */
@AutoConfiguration(
        after = RateLimitAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.autoconfigure.data.redis.RedisReactiveAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration"
        },
        beforeName = {
            "org.springframework.boot.autoconfigure.cache.CacheAutoConfiguration",
            "org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisRepositoriesAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisRepositoriesAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.data.redis.RedisHealthContributorAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.health.DataRedisHealthContributorAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.data.redis.RedisReactiveHealthContributorAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.health.DataRedisReactiveHealthContributorAutoConfiguration"
        })
@ConditionalOnClass(RedisConnectionFactory.class)
@Import(DefaultRedisAutoConfiguration.ConnectionHider.class)
public final class DefaultRedisAutoConfiguration {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final String HIDDEN = DefaultRedisAutoConfiguration.class.getName() + ".hidden";

    /** Shows the connection again once all conditions have been evaluated. */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ConnectionRestorer rateLimitDefaultRedis() {
        return new ConnectionRestorer();
    }

    static class ConnectionHider implements ImportBeanDefinitionRegistrar {

        private final Environment environment;

        private final BeanFactory beans;

        private final ClassLoader classes;

        ConnectionHider(Environment environment, BeanFactory beans, ClassLoader classes) {
            this.environment = environment;
            this.beans = beans;
            this.classes = classes;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            if (beans instanceof ConfigurableListableBeanFactory known
                    && !ApplicationRedis.isConfigured(environment, classes)) {
                hide(known);
            }
        }

        private static void hide(ConfigurableListableBeanFactory beans) {
            List<AbstractBeanDefinition> connections = Stream.of(
                            beans.getBeanNamesForType(RedisConnectionFactory.class, true, false))
                    .map(beans::getBeanDefinition)
                    .filter(AbstractBeanDefinition.class::isInstance)
                    .map(AbstractBeanDefinition.class::cast)
                    .toList();
            if (!connections.isEmpty() && !ApplicationRedis.isDeclared(beans)) {
                connections.forEach(connection -> {
                    connection.setDefaultCandidate(false);
                    connection.setAttribute(HIDDEN, true);
                });
                beans.clearMetadataCache();
                logger.log(
                        Level.INFO,
                        "Spring Boot's default connection to Redis serves rate limits alone (spring.data.redis is not set);"
                                + " set spring.data.redis.host=localhost if caches, repositories, sessions and health use it, too");
            }
        }
    }

    static final class ConnectionRestorer implements BeanFactoryPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            for (String name : beans.getBeanDefinitionNames()) {
                if (beans.getBeanDefinition(name) instanceof AbstractBeanDefinition definition
                        && definition.removeAttribute(HIDDEN) != null) {
                    definition.setDefaultCandidate(true);
                    beans.clearMetadataCache();
                }
            }
        }
    }
}
