package io.ratelimit.autoconfigure;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.core.type.MethodMetadata;
import org.springframework.util.ClassUtils;

/**
 * Tells whether the application itself uses Redis. The class path does not, because the starter brings Spring Data Redis.
 */
final class ApplicationRedis {

    /** Names of both generations of Spring Boot. */
    static final Set<String> CONNECTION_DETAILS = Set.of(
            "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails",
            "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails");

    static final String CONNECTION_FACTORY = "org.springframework.data.redis.connection.RedisConnectionFactory";

    /** Beans by which an application configures caches in Redis; names of both generations of Spring Boot. */
    static final List<String> CACHES = List.of(
            "org.springframework.data.redis.cache.RedisCacheConfiguration",
            "org.springframework.boot.autoconfigure.cache.RedisCacheManagerBuilderCustomizer",
            "org.springframework.boot.cache.autoconfigure.RedisCacheManagerBuilderCustomizer");

    /** Beans that use a connection; of repositories those of {@code @EnableRedisRepositories}. */
    private static final List<String> USERS = List.of(
            "org.springframework.data.redis.core.RedisOperations",
            "org.springframework.data.redis.core.ReactiveRedisOperations",
            "org.springframework.data.redis.listener.RedisMessageListenerContainer",
            "org.springframework.data.redis.repository.support.RedisRepositoryFactoryBean");

    private static final String[] PROPERTIES = {"spring.data.redis", "spring.cache.redis"};

    private static final String SESSIONS = "org.springframework.session.data.redis.RedisSessionRepository";

    private ApplicationRedis() {}

    /** Returns whether a property or a library says so. */
    static boolean isConfigured(Environment environment, ClassLoader classes) {
        return new SetProperties(environment).containAny(PROPERTIES)
                || "redis".equalsIgnoreCase(environment.getProperty("spring.cache.type"))
                || ClassUtils.isPresent(SESSIONS, classes);
    }

    /**
     * Returns whether the application or a tool declares a connection, where to connect to, caches in Redis, or a user of a
     * connection as a bean.
     */
    static boolean isDeclared(ConfigurableListableBeanFactory beans) {
        ClassLoader classes = beans.getBeanClassLoader();
        return Stream.of(Set.of(CONNECTION_FACTORY), CONNECTION_DETAILS, CACHES, USERS)
                .flatMap(Collection::stream)
                .filter(type -> ClassUtils.isPresent(type, classes))
                .map(type -> ClassUtils.resolveClassName(type, classes))
                .flatMap(type -> Stream.of(beans.getBeanNamesForType(type, true, false)))
                .anyMatch(name -> !isOfSpringBoot(beans, name));
    }

    /** Returns whether a configuration class of Spring Boot declares the bean. */
    static boolean isOfSpringBoot(ConfigurableListableBeanFactory beans, String name) {
        if (!beans.containsBeanDefinition(name)) {
            return false;
        }
        BeanDefinition definition = beans.getBeanDefinition(name);
        MethodMetadata method =
                definition instanceof AnnotatedBeanDefinition annotated ? annotated.getFactoryMethodMetadata() : null;
        return method != null && method.getDeclaringClassName().startsWith("org.springframework.boot.");
    }
}
