package io.ratelimit.redis;

import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis that all tests of a JVM share. */
public final class RedisUnderTest extends ConnectedRedis {

    /** Tells runs on the same Redis apart. */
    private static final String RUN = ProcessHandle.current().pid() + "-" + System.currentTimeMillis();

    private static final AtomicInteger PREFIXES = new AtomicInteger();

    @Override
    LettuceConnectionFactory connect() {
        return SharedRedis.get().connect();
    }

    /** Runs the script as if it were the given time. */
    public RateLimitScriptExecutor executorAt(TimeSource time) {
        return new FakeTimeScriptExecutor(connections(), time);
    }

    /** No other test has it, in this run or another. */
    public static String newPrefix() {
        return "test-" + RUN + "-" + PREFIXES.incrementAndGet();
    }
}
