package io.ratelimit.redis.connection;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Timeouts;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisClock;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Runs commands and scripts beside the one that decides, on threads of their own, so that no caller waits for a driver. They do
 * not pass the circuit breaker and never count towards it.
 */
public final class BackgroundCommands {

    private static final Duration CONNECT = Duration.ofMillis(500);

    /** In case the driver has no timeout. */
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private static final String TIME = "redis.call('TIME')";

    /** Seconds and microseconds, as Redis replies. */
    private static final String TIME_OF_INSTANCE = "{0, table.remove(ARGV)}";

    private final RedisConnector connector;

    private final String work;

    private final Executor threads;

    /**
     * @param work what the commands do, for messages
     * @param thread the name of the threads
     * @param most the number of threads
     * @param waiting how many commands may wait for a thread
     */
    public BackgroundCommands(RedisConnector connector, String work, String thread, int most, int waiting) {
        this.connector = connector;
        this.work = work;
        this.threads = DaemonThreads.create(thread, most, waiting);
    }

    /**
     * Returns a script of the library.
     *
     * @param result the type that Redis' reply is converted to
     */
    public static <T> RedisScript<T> script(String file, Class<T> result) {
        return RedisScript.of(new ClassPathResource(file, RateLimitScript.class), result);
    }

    /** Runs the script. Never blocks; a failure completes the stage, at the latest after a bounded time. */
    public <T> CompletionStage<T> run(RedisScript<T> script, List<String> keys, List<String> arguments) {
        String text = script.getScriptAsString();
        if (connector.clock() == RedisClock.SERVER || !text.contains(TIME)) {
            return run(template -> template.execute(script, keys, arguments.toArray()));
        }
        RedisScript<T> timed =
                RedisScript.of(text.replace(TIME, TIME_OF_INSTANCE), Objects.requireNonNull(script.getResultType()));
        List<String> all = new ArrayList<>(arguments);
        all.add(Long.toString(InstanceClockExecutor.now()));
        return run(template -> template.execute(timed, keys, all.toArray()));
    }

    /** Runs the command. Never blocks; a failure completes the stage, at the latest after a bounded time. */
    public <T> CompletionStage<T> run(Function<RedisOperations<String, String>, T> command) {
        CompletableFuture<T> reply;
        try {
            reply = CompletableFuture.supplyAsync(() -> runOnceConnected(command), threads);
        } catch (RejectedExecutionException ex) {
            return CompletableFuture.failedFuture(new RateLimitStoreException(
                    Reason.OVERLOADED, "Redis: too many " + work + " wait for a reply", ex));
        }
        return Timeouts.fail(reply, DEADLINE).exceptionally(thrown -> {
            throw RedisFailureMapper.of(RedisTopology.REDIS, thrown);
        });
    }

    private <T> T runOnceConnected(Function<RedisOperations<String, String>, T> command) {
        if (!connector.connect(CONNECT)) {
            throw new RateLimitStoreException(Reason.UNREACHABLE, "Redis: no connection yet", null);
        }
        return command.apply(connector.template());
    }
}
