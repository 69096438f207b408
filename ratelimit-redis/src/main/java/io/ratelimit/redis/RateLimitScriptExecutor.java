package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Runs the starter's script on Redis. A bean of this type replaces the starter's own, for a driver that Spring Data does not
 * support, say. {@link RateLimitScript#load()} returns the script; send its digest first, and its text if the server does not
 * know it ({@code NOSCRIPT}). With {@code ratelimit.redis.clock=instance}, load that of {@link RedisClock#INSTANCE}.
 *
 * <p>Timeouts and the circuit breaker are not the executor's concern: a stage that takes too long is cancelled as a
 * {@code CompletableFuture}. What an executor throws counts as a failure of the server.
 */
public interface RateLimitScriptExecutor {

    /**
     * Runs the script, without blocking the caller.
     *
     * @param keys the keys of the script, in one hash slot if the topology is a cluster
     * @param arguments the arguments of the script; must not be changed
     * @return the script's reply, or the failure, such as a {@link org.springframework.dao.DataAccessException}
     */
    CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments);

    /** Returns the servers as they are known now. Called for every call; by default, there is one server. */
    default RedisTopology topology() {
        return RedisTopology.ONE_SERVER;
    }
}
