package io.ratelimit.redis;

import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Connects a test class to a Redis that others use too. Every store has a key prefix of its own. */
abstract class ConnectedRedis implements BeforeAllCallback, AfterAllCallback {

    private LettuceConnectionFactory connections;

    abstract LettuceConnectionFactory connect();

    @Override
    public void beforeAll(ExtensionContext context) {
        connections = connect();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        connections.destroy();
    }

    public LettuceConnectionFactory connections() {
        return connections;
    }

    public StringRedisTemplate commands() {
        return new StringRedisTemplate(connections);
    }

    /** A store for which it is the given time. */
    public RateLimitStore storeAt(TimeSource time) {
        return TestStores.over(new FakeTimeScriptExecutor(connections, time), RedisUnderTest.newPrefix());
    }
}
