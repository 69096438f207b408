package io.ratelimit.autoconfigure;

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

    private static final String[] PROPERTIES = {"spring.data.redis", "spring.cache.redis"};

    private static final String SESSIONS = "org.springframework.session.data.redis.RedisSessionRepository";

    private ApplicationRedis() {}

    /** Returns whether a property or a library says so. */
    static boolean isConfigured(Environment environment, ClassLoader classes) {
        return new SetProperties(environment).containAny(PROPERTIES)
                || "redis".equalsIgnoreCase(environment.getProperty("spring.cache.type"))
                || ClassUtils.isPresent(SESSIONS, classes);
    }

    /** Returns whether the application or a tool declares a connection, or where to connect to, as a bean. */
    static boolean isDeclared(ConfigurableListableBeanFactory beans) {
        ClassLoader classes = beans.getBeanClassLoader();
        return Stream.concat(Stream.of(CONNECTION_FACTORY), CONNECTION_DETAILS.stream())
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
