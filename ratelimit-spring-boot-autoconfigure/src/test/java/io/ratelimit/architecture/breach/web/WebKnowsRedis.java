package io.ratelimit.architecture.breach.web;

import io.ratelimit.architecture.breach.redis.RedisKnowsMetrics;

/** The web knows no store. */
public class WebKnowsRedis {

    Object known = new RedisKnowsMetrics();
}
