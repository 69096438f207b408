package io.ratelimit.redis;

import java.util.UUID;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis that all tests of a run share. */
public final class RedisUnderTest extends ConnectedRedis {

    @Override
    LettuceConnectionFactory connect(ExtensionContext context) {
        return TestRedis.shared().connect();
    }

    static String newPrefix() {
        return "test-" + UUID.randomUUID();
    }
}
