package io.ratelimit.autoconfigure.actuate;

import io.ratelimit.actuate.RateLimitHealth;
import io.ratelimit.actuate.SpringBoot3HealthIndicator;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.spi.StoreHealth;
import java.util.function.Supplier;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;

/** Auto-configuration of the health contributor {@code ratelimit}, for a store that may fail. */
@AutoConfiguration(after = RateLimitAutoConfiguration.class)
@Conditional(RateLimitHealthAutoConfiguration.OnHealthEnabled.class)
@ConditionalOnSingleCandidate(StoreHealth.class)
@ConditionalOnMissingBean(name = {RateLimitHealthAutoConfiguration.BEAN, "ratelimitHealthIndicator"})
public final class RateLimitHealthAutoConfiguration {

    /** Spring Boot derives the contributor's name from it. */
    static final String BEAN = "ratelimitHealthContributor";

    private static Supplier<RateLimitHealth> health(StoreHealth store, RateLimitProperties properties) {
        String storeFailure = properties.health().storeFailure().name();
        return () -> RateLimitHealth.of(store.failures(), storeFailure);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HealthIndicator.class)
    static class SpringBoot4 {

        @Bean(BEAN)
        HealthIndicator indicator(StoreHealth store, RateLimitProperties properties) {
            Supplier<RateLimitHealth> health = health(store, properties);
            return () -> {
                RateLimitHealth now = health.get();
                return Health.status(now.status()).withDetails(now.details()).build();
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = SpringBoot3HealthIndicator.TYPE)
    @Import(SpringBoot3Registrar.class)
    static class SpringBoot3 {

        static Object indicator(StoreHealth store, RateLimitProperties properties) {
            return SpringBoot3HealthIndicator.of(health(store, properties), loader());
        }

        static ClassLoader loader() {
            return SpringBoot3HealthIndicator.class.getClassLoader();
        }
    }

    /** Registers the bean with its type of Spring Boot 3, which no bean method can return. */
    static class SpringBoot3Registrar implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
            RootBeanDefinition definition = new RootBeanDefinition(SpringBoot3.class);
            definition.setFactoryMethodName("indicator");
            definition.setAutowireMode(AutowireCapableBeanFactory.AUTOWIRE_CONSTRUCTOR);
            definition.setTargetType(
                    ClassUtils.resolveClassName(SpringBoot3HealthIndicator.TYPE, SpringBoot3.loader()));
            registry.registerBeanDefinition(BEAN, definition);
        }
    }

    /** Evaluates the properties of {@code ConditionalOnEnabledHealthIndicator}, whose package differs in Spring Boot 3 and 4. */
    static class OnHealthEnabled extends SpringBootCondition {

        private static final String PROPERTY = "management.health.ratelimit.enabled";

        private static final String DEFAULTS = "management.health.defaults.enabled";

        @Override
        public ConditionOutcome getMatchOutcome(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment environment = context.getEnvironment();
            boolean enabled = environment.getProperty(
                    PROPERTY, Boolean.class, environment.getProperty(DEFAULTS, Boolean.class, true));
            return new ConditionOutcome(
                    enabled, ConditionMessage.forCondition(PROPERTY).because("is " + enabled));
        }
    }
}
