package io.ratelimit.redis;

import java.util.Map;

/**
 * Describes the servers that hold the buckets. Each server has a circuit breaker of its own, which is probed while it is open.
 * Every method may throw if the servers are not known, such as after the driver was closed; the call then fails.
 */
public interface RedisTopology {

    /** The name of a server if there is only one, or none is known by name. */
    String REDIS = "Redis";

    /** One server. */
    RedisTopology ONE_SERVER = new RedisTopology() {};

    /** A cluster whose servers are not known, and therefore share a circuit breaker. */
    RedisTopology UNKNOWN_CLUSTER = new RedisTopology() {

        @Override
        public boolean isClustered() {
            return true;
        }
    };

    /** Returns whether a script reaches the keys of one hash slot only. */
    default boolean isClustered() {
        return false;
    }

    /**
     * Returns the name of the server that holds a hash slot. Called for every call, so it must not block. A server that takes over
     * the slots of another has a name of its own.
     *
     * @param slot from 0 to 16383; 0 for every key if the topology is not a cluster
     */
    default String serverOf(int slot) {
        return REDIS;
    }

    /** Returns a hash tag for each server, by name: a key with this tag is on that server. */
    default Map<String, String> hashTags() {
        return Map.of(REDIS, "%probe");
    }

    /**
     * Replaces the connection to a server that does not answer as it should, or finds its successor. Called in the background
     * while no calls are sent to the server; may block and may fail.
     */
    default void reconnect(String server) {}

    /**
     * Closes the connection to a server that checks could not reach, so that the driver opens another. Called in the background;
     * must neither block nor let calls wait meanwhile, and may fail.
     */
    default void disconnect(String server) {}
}
