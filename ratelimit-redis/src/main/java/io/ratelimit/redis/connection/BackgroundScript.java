package io.ratelimit.redis.connection;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisFailureMapper;
import io.ratelimit.redis.RedisTopology;
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
import org.springframework.util.function.SingletonSupplier;

/**
 * Runs a script beside the one that decides, on threads of its own, so that no caller waits for a driver. It does not pass the
 * circuit breaker and never counts towards it.
 */
public final class BackgroundScript<T> {

    private static final int THREADS = 2;

    private static final int WAITING = 100;

    private static final Duration CONNECT = Duration.ofMillis(500);

    /** In case the driver has no timeout. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private final DefaultRedisScript<T> script = new DefaultRedisScript<>();

    private final RedisConnector connector;

    private final SingletonSupplier<StringRedisTemplate> template;

    private final String work;

    private final Executor threads;

    /**
     * @param file that of the script
     * @param result the type that Redis' reply is converted to
     * @param work what it does, for messages
     * @param thread the name of the threads
     */
    public BackgroundScript(RedisConnector connector, String file, Class<T> result, String work, String thread) {
        this.connector = connector;
        this.template = SingletonSupplier.of(() -> new StringRedisTemplate(connector.connections()));
        this.work = work;
        this.threads = DaemonThreads.create(thread, THREADS, WAITING);
        script.setLocation(new ClassPathResource(file, RateLimitScript.class));
        script.setResultType(result);
    }

    /** Runs the script. Never blocks; a failure completes the stage, at the latest after a bounded time. */
    public CompletionStage<T> run(List<String> keys, List<String> arguments) {
        CompletableFuture<T> reply;
        try {
            reply = CompletableFuture.supplyAsync(() -> execute(keys, arguments), threads);
        } catch (RejectedExecutionException ex) {
            return CompletableFuture.failedFuture(new RateLimitStoreException(
                    Reason.OVERLOADED, "Redis: too many " + work + " wait for a reply", ex));
        }
        return reply.orTimeout(DEADLINE.toMillis(), TimeUnit.MILLISECONDS).exceptionally(thrown -> {
            throw failure(Futures.unwrap(thrown));
        });
    }

    private T execute(List<String> keys, List<String> arguments) {
        if (!connector.connect(CONNECT)) {
            throw new RateLimitStoreException(Reason.UNREACHABLE, "Redis: no connection yet", null);
        }
        return template.obtain().execute(script, keys, arguments.toArray());
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
