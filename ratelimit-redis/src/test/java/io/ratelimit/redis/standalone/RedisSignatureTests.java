package io.ratelimit.redis.standalone;

import io.ratelimit.testing.api.AbstractApiTests;

class RedisSignatureTests extends AbstractApiTests {}
