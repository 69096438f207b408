package io.ratelimit.autoconfigure;

import java.lang.System.Logger.Level;
import java.util.Objects;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/**
 * Warns if Spring Boot keeps caches in the application's Redis and nothing shows that the application wants it: with Spring
 * Data Redis on the class path, Spring Boot prefers Redis to Caffeine and to memory.
 */
final class RedisCacheWarning implements SmartInitializingSingleton {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private static final String CACHE_MANAGER = "cacheManager";

    private final ConfigurableListableBeanFactory beans;

    private final Environment environment;

    private final boolean dedicated;

    /** @param dedicated whether limits have a Redis of their own, so that the application's Redis is its own choice */
    RedisCacheWarning(ConfigurableListableBeanFactory beans, Environment environment, boolean dedicated) {
        this.beans = beans;
        this.environment = environment;
        this.dedicated = dedicated;
    }

    @Override
    public void afterSingletonsInstantiated() {
        if (!dedicated
                && isInRedis()
                && !new SetProperties(environment).containAny("spring.cache.type", "spring.cache.redis")
                && ApplicationRedis.CACHES.stream().noneMatch(this::isDeclared)) {
            logger.log(
                    Level.WARNING,
                    "Spring Boot keeps caches in Redis (spring.cache.type is not set, and the starter brings Spring Data Redis);"
                            + " set spring.cache.type to redis, caffeine or simple, or connect rate limits by"
                            + " ratelimit.redis.url instead of spring.data.redis");
        }
    }

    private boolean isInRedis() {
        if (!beans.containsBeanDefinition(CACHE_MANAGER)
                || !ApplicationRedis.isOfSpringBoot(beans, CACHE_MANAGER)
                || !(beans.getBeanDefinition(CACHE_MANAGER) instanceof AnnotatedBeanDefinition definition)) {
            return false;
        }
        MethodMetadata method = Objects.requireNonNull(definition.getFactoryMethodMetadata());
        return method.getDeclaringClassName().endsWith(".RedisCacheConfiguration");
    }

    private boolean isDeclared(String type) {
        ClassLoader classes = beans.getBeanClassLoader();
        return ClassUtils.isPresent(type, classes)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(type, classes), true, false).length > 0;
    }
}
