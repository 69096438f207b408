package io.ratelimit.redis;

import io.ratelimit.redis.connection.InstanceClockExecutor;
import io.ratelimit.redis.connection.TestExecutors;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.StartedConnections;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;

/** A Redis that refuses {@code TIME}, also within scripts. Its keys expire by its own clock. */
final class RedisWithoutTime extends ConnectedRedis {

    private RedisProcess server;

    private RateLimitScriptExecutor executor;

    @Override
    LettuceConnectionFactory connect() {
        server = RedisProcess.server();
        server.send("ACL", "SETUSER", "default", "-time");
        return StartedConnections.to(RedisProcess.HOST, server.port());
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        super.beforeAll(context);
        RedisScript<List<Long>> script = RateLimitScript.load(List.of(), RedisClock.INSTANCE);
        // A call that does not find its script is sent again, and others could overtake it.
        try (RedisConnection connection = connections().getConnection()) {
            connection.scriptingCommands().scriptLoad(script.getScriptAsString().getBytes(StandardCharsets.UTF_8));
        }
        RateLimitLibrary library = RateLimitLibrary.load(List.of(), RedisClock.INSTANCE);
        executor = new BothWays(
                TestExecutors.lettuce(connections(), script, null), connections(), library.name(), library.text());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        super.afterAll(context);
        server.close();
    }

    /** Returns what an instance with that clock sends scripts by. */
    RateLimitScriptExecutor instance(TimeSource clock) {
        return new InstanceClockExecutor(executor, clock::micros);
    }

    @Override
    public RateLimitStore storeAt(TimeSource time) {
        return TestStores.oneByOne(instance(time), RedisUnderTest.newPrefix());
    }
}
