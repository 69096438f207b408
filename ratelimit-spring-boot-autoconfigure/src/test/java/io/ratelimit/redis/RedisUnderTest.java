package io.ratelimit.redis;

import io.ratelimit.TimeSource;
import java.util.UUID;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis that all tests of a run share. */
public final class RedisUnderTest extends ConnectedRedis {

    @Override
    LettuceConnectionFactory connect(ExtensionContext context) {
        return TestRedis.shared().connect();
    }

    /** Runs the script as if it were the given time. */
    public RateLimitScriptExecutor executorAt(TimeSource time) {
        return new FakeTimeScriptExecutor(connections(), time);
    }

    public static String newPrefix() {
        return "test-" + UUID.randomUUID();
    }
}
