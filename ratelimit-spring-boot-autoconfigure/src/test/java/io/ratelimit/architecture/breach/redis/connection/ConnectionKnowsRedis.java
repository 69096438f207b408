package io.ratelimit.architecture.breach.redis.connection;

import io.ratelimit.architecture.breach.redis.RedisKnowsConnection;

/** An arrow that must not be. */
public class ConnectionKnowsRedis {

    RedisKnowsConnection known;
}
