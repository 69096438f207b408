package io.ratelimit.autoconfigure;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanClassLoaderAware;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Leaves Spring Boot's connection to Redis out of an application that does not use Redis itself, if limits do not need that
 * connection. Without it, Spring Boot's caches, repositories, sessions and health do not find Redis either. {@link
 * ApplicationRedisAutoConfiguration} imports it nevertheless, if the application declares a connection as a bean, which is not
 * known yet.
 */
public final class RedisAutoConfigurationFilter
        implements AutoConfigurationImportFilter, EnvironmentAware, BeanFactoryAware, BeanClassLoaderAware {

    /** Of both generations of Spring Boot. The others match only if there is a connection. */
    static final List<String> CONNECTION = List.of(
            "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
            "org.springframework.boot.autoconfigure.data.redis.RedisReactiveAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.redis.LettuceMetricsAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration",
            "org.springframework.boot.data.redis.autoconfigure.observation.LettuceObservationAutoConfiguration");

    private static final String NEEDED = RedisAutoConfigurationFilter.class.getName() + ".needed";

    private static final String LEFT_OUT = RedisAutoConfigurationFilter.class.getName() + ".leftOut";

    private @Nullable Environment environment;

    private @Nullable ConfigurableBeanFactory beans;

    private @Nullable ClassLoader classes;

    @Override
    public void setEnvironment(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = (ConfigurableBeanFactory) beans;
    }

    @Override
    public void setBeanClassLoader(ClassLoader classes) {
        this.classes = classes;
    }

    @Override
    public boolean[] match(@Nullable String[] autoConfigurations, AutoConfigurationMetadata metadata) {
        boolean[] matches = new boolean[autoConfigurations.length];
        Arrays.fill(matches, true);
        List<@Nullable String> candidates = Arrays.asList(autoConfigurations);
        if (!candidates.contains(ApplicationRedisAutoConfiguration.class.getName())
                || candidates.stream().noneMatch(RedisAutoConfigurationFilter::connects)
                || Objects.requireNonNull(beans).containsSingleton(NEEDED)
                || isNeeded(Objects.requireNonNull(environment), Objects.requireNonNull(classes))) {
            return matches;
        }
        Set<String> leftOut = leftOut(Objects.requireNonNull(beans));
        for (int i = 0; i < matches.length; i++) {
            String candidate = autoConfigurations[i];
            if (candidate != null && connects(candidate)) {
                matches[i] = false;
                leftOut.add(candidate);
            }
        }
        return matches;
    }

    /** @param candidate {@code null} if another filter has left it out */
    private static boolean connects(@Nullable String candidate) {
        return candidate != null && CONNECTION.contains(candidate);
    }

    /**
     * Keeps Spring Boot's connection if the properties need it that are set so far. A test that replaces the store of an
     * application calls this before, because other beans of the application may use the connection.
     */
    public static void keepIfNeeded(ConfigurableApplicationContext context) {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        if (!beans.containsSingleton(NEEDED)
                && isNeeded(context.getEnvironment(), Objects.requireNonNull(beans.getBeanClassLoader()))) {
            beans.registerSingleton(NEEDED, true);
        }
    }

    /** Returns whether limits or the application use Spring Boot's connection, as far as properties and class path show it. */
    static boolean isNeeded(Environment environment, ClassLoader classes) {
        boolean byLimits = OnRateLimitsEnabled.isEnabled(environment)
                && RedisStoreConfiguration.OnRedisStore.store(environment) == RateLimitProperties.StoreType.REDIS
                && (!DedicatedRedis.isConfigured(environment)
                        || RedisServerProperties.useConnectionFactory(environment));
        return byLimits || ApplicationRedis.isConfigured(environment, classes);
    }

    /** Returns the auto-configurations that were left out. Exclusions of the application are not among them. */
    @SuppressWarnings("unchecked")
    static Set<String> leftOut(ConfigurableBeanFactory beans) {
        Object known = beans.getSingleton(LEFT_OUT);
        if (known == null) {
            known = new LinkedHashSet<String>();
            beans.registerSingleton(LEFT_OUT, known);
        }
        return (Set<String>) known;
    }
}
