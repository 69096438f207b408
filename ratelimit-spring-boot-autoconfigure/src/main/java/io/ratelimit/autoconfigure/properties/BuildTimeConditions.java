package io.ratelimit.autoconfigure.properties;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.properties.RateLimitProperties.StoreType;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionBuilder;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.core.env.Environment;

/**
 * The properties that decide which beans exist. AOT processing evaluates them when the application is built, so another value
 * at start-up has no effect: methods would silently stay unlimited. The bean that keeps them exists only in such an application.
 *
 * @param enabled {@code ratelimit.enabled}
 * @param store {@code ratelimit.store}
 */
public record BuildTimeConditions(boolean enabled, StoreType store) {

    private static final String BEAN = "rateLimitBuildTimeConditions";

    private static BuildTimeConditions of(Environment environment) {
        return new BuildTimeConditions(OnRateLimitsEnabled.isEnabled(environment), OnRedisStore.store(environment));
    }

    /** Lets AOT processing generate the bean. */
    static void keep(ConfigurableListableBeanFactory beans, Environment environment) {
        BuildTimeConditions now = of(environment);
        BeanDefinition definition = BeanDefinitionBuilder.rootBeanDefinition(BuildTimeConditions.class)
                .addConstructorArgValue(now.enabled)
                .addConstructorArgValue(now.store)
                .setRole(BeanDefinition.ROLE_INFRASTRUCTURE)
                .getBeanDefinition();
        ((BeanDefinitionRegistry) beans).registerBeanDefinition(BEAN, definition);
    }

    /**
     * Compares them with those of the start-up, if AOT processing has kept them.
     *
     * @throws RateLimitConfigurationException if a property differs
     */
    static void check(ConfigurableListableBeanFactory beans, Environment environment) {
        if (beans.containsBeanDefinition(BEAN)) {
            beans.getBean(BEAN, BuildTimeConditions.class).check(of(environment));
        }
    }

    private void check(BuildTimeConditions now) {
        if (now.enabled != enabled) {
            throw changed("enabled", enabled, now.enabled, enabled ? ", or set ratelimit.dry-run=true." : ".");
        }
        if (enabled && now.store != store) {
            throw changed("store", value(store), value(now.store), ".");
        }
    }

    private static String value(StoreType store) {
        return store == StoreType.REDIS ? "redis" : "in-memory";
    }

    private static RateLimitConfigurationException changed(
            String property, Object built, Object now, String otherwise) {
        return new RateLimitConfigurationException(
                "ratelimit." + property + " must be " + built + " as when AOT processing chose the beans (was " + now
                        + ").",
                "Build the application again with this value" + otherwise);
    }
}
