package io.ratelimit.redis.connection;

import java.util.Map;

/** The servers that buckets are on, and how to reach one anew. */
public interface RedisTopology {

    String REDIS = "Redis";

    /** Where nothing is known about them, they are one. */
    RedisTopology ONE = new RedisTopology() {};

    /** Which server a key is on. One that takes over the keys of another has a name of its own. */
    default String of(byte[] key) {
        return REDIS;
    }

    /** A hash tag whose keys are on that server, for every server. */
    default Map<String, String> tags() {
        return Map.of(REDIS, "%probe");
    }

    /**
     * Makes the connection to a server that does not answer as it should anew, or finds out who has its place. May block,
     * and fail.
     */
    default void renew(String server) {}
}
