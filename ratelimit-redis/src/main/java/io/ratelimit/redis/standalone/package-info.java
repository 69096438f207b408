/** The store in Redis without Spring Boot: {@link io.ratelimit.redis.standalone.RedisStore}. API. */
@NullMarked
package io.ratelimit.redis.standalone;

import org.jspecify.annotations.NullMarked;
