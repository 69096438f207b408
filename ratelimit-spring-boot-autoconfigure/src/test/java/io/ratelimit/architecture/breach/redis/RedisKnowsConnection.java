package io.ratelimit.architecture.breach.redis;

import io.ratelimit.architecture.breach.redis.connection.ConnectionKnowsRedis;

/** An arrow that must not be. */
public class RedisKnowsConnection {

    ConnectionKnowsRedis known;
}
