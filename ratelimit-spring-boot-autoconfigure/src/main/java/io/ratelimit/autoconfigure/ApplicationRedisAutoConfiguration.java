package io.ratelimit.autoconfigure;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Auto-configuration that puts Spring Boot's connection to Redis back in its place, if {@link RedisAutoConfigurationFilter} left
 * it out and the application declares a connection factory or connection details as a bean.
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

    static class LeftOut implements ImportSelector {

        private final BeanFactory beans;

        LeftOut(BeanFactory beans) {
            this.beans = beans;
        }

        @Override
        public String[] selectImports(AnnotationMetadata importing) {
            return beans instanceof ConfigurableBeanFactory known
                    ? RedisAutoConfigurationFilter.leftOut(known).toArray(String[]::new)
                    : new String[0];
        }
    }

    static class OnDeclaredRedis extends SpringBootCondition implements ConfigurationCondition {

        @Override
        public ConfigurationPhase getConfigurationPhase() {
            return ConfigurationPhase.REGISTER_BEAN;
        }

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            ConfigurableListableBeanFactory beans = context.getBeanFactory();
            boolean declared = beans != null
                    && !RedisAutoConfigurationFilter.leftOut(beans).isEmpty()
                    && ApplicationRedis.isDeclared(beans);
            return new ConditionOutcome(
                    declared,
                    ConditionMessage.forCondition("Redis of the application")
                            .because(
                                    declared
                                            ? "is declared as a bean"
                                            : "is not declared as a bean, or was not left out"));
        }
    }
}
