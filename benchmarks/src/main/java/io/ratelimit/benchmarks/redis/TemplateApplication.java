package io.ratelimit.benchmarks.redis;

import io.ratelimit.benchmarks.race.Applications;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A Spring Boot application that has Redis and no rate limiter: Boot's own template over its own Lettuce connection. */
final class TemplateApplication implements AutoCloseable {

    private final ConfigurableApplicationContext application;

    TemplateApplication(RedisAddress redis) {
        this.application = Applications.start("org.springframework.boot.", redis.properties());
    }

    StringRedisTemplate template() {
        return application.getBean(StringRedisTemplate.class);
    }

    @Override
    public void close() {
        application.close();
    }
}
