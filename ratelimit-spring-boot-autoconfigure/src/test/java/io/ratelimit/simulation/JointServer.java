package io.ratelimit.simulation;

import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.SimulatedServer;
import io.ratelimit.redis.store.SimulatedRedisStore;
import io.ratelimit.simulation.SimulatedNetwork.State;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.TestClock;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What instances share: a Redis, one that is a cluster, or a store in memory. */
final class JointServer {

    private final @Nullable SimulatedServer server;

    private final boolean clustered;

    private final SimulatedTime time;

    private final RateLimitStore memory;

    /**
     * @param server {@code null}: in memory
     * @param clustered whether a script reaches the keys of one slot only
     */
    JointServer(@Nullable SimulatedServer server, boolean clustered, SimulatedTime time, Random random) {
        this.server = server;
        this.clustered = clustered;
        this.time = time;
        SimulatedRedisStore observer = redis(time, time.thread(), random, network -> {});
        this.memory = observer == null ? new InMemoryRateLimitStore(this::micros, 10_000) : observer.store();
    }

    private long micros() {
        return time.micros() + TestClock.TODAY;
    }

    /** Returns the server itself, without a network that could fail. */
    RateLimitStore memory() {
        return memory;
    }

    /**
     * Connects an instance.
     *
     * @param control gets what changes the network
     * @return {@code null}: this is no Redis
     */
    @Nullable
    SimulatedRedisStore redis(
            SimulatedTime at, ScheduledExecutorService thread, Random random, Consumer<Consumer<State>> control) {
        if (server == null) {
            return null;
        }
        SimulatedNetwork network = new SimulatedNetwork(
                at, server, this::micros, random, clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER);
        control.accept(network::setState);
        return new SimulatedRedisStore(network, thread, at::nanos);
    }
}
