package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Runs the script on Redis, by its digest and with its text only where the server does not know it yet. A bean of this
 * type replaces the default, which goes through Spring Data's template.
 */
public interface RateLimitScriptExecutor {

    /**
     * Runs the script.
     *
     * @param keys in one hash slot, where Redis is a cluster
     * @param arguments as the script wants them; not to be changed
     * @return the script's reply
     * @throws org.springframework.dao.DataAccessException or another runtime exception if there is none
     */
    List<Long> execute(List<byte[]> keys, byte[][] arguments);

    /** As {@link #execute}, without blocking the caller. */
    CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments);

    /** Whether Redis is a cluster, so that a script reaches one hash slot only. Known when there is a connection. */
    default boolean isClustered() {
        return false;
    }

    /** Deletes a key. */
    void delete(byte[] key);
}
