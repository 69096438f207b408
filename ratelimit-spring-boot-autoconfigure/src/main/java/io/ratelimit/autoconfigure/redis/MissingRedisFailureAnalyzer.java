package io.ratelimit.autoconfigure.redis;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/** Reports a missing bean of Spring Data Redis, if {@link RedisAutoConfigurationFilter} is the cause. */
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class MissingRedisFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {

    private final Environment environment;

    public MissingRedisFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException missing) {
        ResolvableType type = missing.getResolvableType();
        if (type == null
                || !type.resolve(Object.class).getName().startsWith("org.springframework.data.redis.")
                || RedisAutoConfigurationFilter.isConfigured(environment)) {
            return null;
        }
        return new FailureAnalysis(
                "There is no bean of type " + type
                        + ", because nothing shows that the application uses Redis itself: Spring Boot's"
                        + " connection to Redis is left out.",
                "Set spring.data.redis.host (localhost, if you relied on the default), or declare a"
                        + " RedisConnectionFactory bean.",
                rootFailure);
    }
}
