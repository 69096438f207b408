package io.ratelimit.architecture.breach.change;

import io.ratelimit.architecture.breach.redis.RedisKnowsMetrics;

/** An arrow that must not be. */
public class ChangeKnowsRedis {

    RedisKnowsMetrics known;
}
