package io.ratelimit.autoconfigure.redis;

import io.ratelimit.autoconfigure.diagnostics.ConfiguredProperties;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Leaves Spring Boot's connection to Redis out of an application that does not use Redis itself, so that caches, repositories,
 * sessions and health stay where they are without the starter. {@link ApplicationRedisAutoConfiguration} imports the connection
 * nevertheless, if beans of the application use it, which are not known yet.
 */
public final class RedisAutoConfigurationFilter
        implements AutoConfigurationImportFilter, EnvironmentAware, BeanFactoryAware {

    /** Of both generations of Spring Boot. The others match only if there is a connection. */
    public static final Set<String> CONNECTION = Set.of(
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisReactiveAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.redis.LettuceMetricsAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.observation.LettuceObservationAutoConfiguration");

    private static final List<ConfigurationPropertyName> PROPERTIES = List.of(
            ConfigurationPropertyName.of("spring.data.redis"), ConfigurationPropertyName.of("spring.cache.redis"));

    private static final String SESSIONS = "org.springframework.session.data.redis.RedisSessionRepository";

    private static final String LEFT_OUT = RedisAutoConfigurationFilter.class.getName() + ".leftOut";

    private @Nullable Environment environment;

    private @Nullable SingletonBeanRegistry beans;

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = (SingletonBeanRegistry) beans;
    }

    @Override
    public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
        boolean keep = !Arrays.asList(autoConfigurations).contains(ApplicationRedisAutoConfiguration.class.getName())
                || isConfigured(Objects.requireNonNull(environment));
        boolean[] matches = new boolean[autoConfigurations.length];
        for (int i = 0; i < matches.length; i++) {
            String candidate = autoConfigurations[i];
            matches[i] = keep || candidate == null || !CONNECTION.contains(candidate);
            if (!matches[i]) {
                leftOut(Objects.requireNonNull(beans)).add(candidate);
            }
        }
        return matches;
    }

    /** Returns whether the application uses Redis itself, as far as a property or a library shows it. */
    static boolean isConfigured(Environment environment) {
        ConfiguredProperties properties = new ConfiguredProperties(environment);
        return PROPERTIES.stream().flatMap(properties::below).findAny().isPresent()
                || "redis".equalsIgnoreCase(environment.getProperty("spring.cache.type"))
                || ClassUtils.isPresent(SESSIONS, RedisAutoConfigurationFilter.class.getClassLoader());
    }

    /** Returns the auto-configurations that were left out. Exclusions of the application are not among them. */
    @SuppressWarnings("unchecked")
    static Set<String> leftOut(SingletonBeanRegistry beans) {
        Object known = beans.getSingleton(LEFT_OUT);
        if (known == null) {
            known = new LinkedHashSet<String>();
            beans.registerSingleton(LEFT_OUT, known);
        }
        return (Set<String>) known;
    }
}
