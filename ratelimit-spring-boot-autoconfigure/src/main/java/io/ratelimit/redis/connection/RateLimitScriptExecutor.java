package io.ratelimit.redis.connection;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Runs the script on Redis, by its digest and with its text only where the server does not know it yet. A bean of this
 * type replaces the default, which goes through Spring Data's template. It need not watch the time: who waits for a stage
 * too long cancels it as a {@code CompletableFuture}.
 */
public interface RateLimitScriptExecutor {

    /**
     * Runs the script, without blocking the caller.
     *
     * @param keys in one hash slot, where Redis is a cluster
     * @param arguments as the script wants them; not to be changed
     * @return the script's reply; or what went wrong, such as a {@link org.springframework.dao.DataAccessException}
     */
    CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments);

    /** Deletes a key, without blocking the caller. */
    CompletionStage<?> delete(byte[] key);

    /** Whether Redis is a cluster, so that a script reaches one hash slot only. Known when there is a connection. */
    default boolean isClustered() {
        return false;
    }
}
