package io.ratelimit.architecture.breach.memory;

import io.ratelimit.architecture.breach.redis.RedisKnowsMetrics;

/** Stores do not know each other. */
public class MemoryKnowsRedis {

    Object known = new RedisKnowsMetrics();
}
