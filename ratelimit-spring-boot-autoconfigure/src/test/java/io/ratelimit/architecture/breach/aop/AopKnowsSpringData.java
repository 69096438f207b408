package io.ratelimit.architecture.breach.aop;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Spring Data is for the Redis store. */
public class AopKnowsSpringData {

    Class<?> known = RedisConnectionFactory.class;
}
