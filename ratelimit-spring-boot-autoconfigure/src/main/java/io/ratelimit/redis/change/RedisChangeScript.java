package io.ratelimit.redis.change;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.change.ChangeScript;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisFailureMapper;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.connection.RedisConnector;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * Runs {@code overrides.lua} on threads of its own, so that no caller waits for a driver. It does not pass the circuit breaker
 * and never counts towards it.
 */
public final class RedisChangeScript implements ChangeScript {

    private static final int THREADS = 2;

    private static final int WAITING = 100;

    private static final Duration CONNECT = Duration.ofMillis(500);

    /** In case the driver has no timeout. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private final Executor threads = DaemonThreads.create("ratelimit-changes", THREADS, WAITING);

    private final DefaultRedisScript<String> script = new DefaultRedisScript<>();

    private final RedisConnector connector;

    private final StringRedisTemplate template;

    private final List<String> keys;

    /** @param keyPrefix the prefix of all keys of the starter */
    public RedisChangeScript(RedisConnector connector, String keyPrefix) {
        this.connector = connector;
        this.template = new StringRedisTemplate(connector.connections());
        script.setLocation(new ClassPathResource("overrides.lua", RateLimitScript.class));
        script.setResultType(String.class);
        this.keys = List.of(keyPrefix + ":%overrides");
    }

    @Override
    public CompletionStage<String> run(List<String> arguments) {
        CompletableFuture<String> reply;
        try {
            reply = CompletableFuture.supplyAsync(() -> execute(arguments), threads);
        } catch (RejectedExecutionException ex) {
            return CompletableFuture.failedFuture(new RateLimitStoreException(
                    Reason.OVERLOADED, "Redis: too many changes of limits wait for a reply", ex));
        }
        return reply.orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS).exceptionally(thrown -> {
            throw failure(Futures.unwrap(thrown));
        });
    }

    private String execute(List<String> arguments) {
        if (!connector.connect(CONNECT)) {
            throw new RateLimitStoreException(Reason.UNREACHABLE, "Redis: no connection yet", null);
        }
        return template.execute(script, keys, arguments.toArray());
    }

    private static RateLimitStoreException failure(Throwable thrown) {
        if (thrown instanceof TimeoutException) {
            return new RateLimitStoreException(Reason.TIMEOUT, "Redis: no answer in time", thrown);
        }
        return thrown instanceof RateLimitStoreException known
                ? known
                : RedisFailureMapper.of(RedisTopology.REDIS, thrown);
    }
}
