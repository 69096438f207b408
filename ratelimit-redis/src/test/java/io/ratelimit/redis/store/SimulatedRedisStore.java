package io.ratelimit.redis.store;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.batch.DirectDispatcher;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.permit.PermitRegistry;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The store of one simulated instance: the starter's own, whose clock and threads are the simulation's. */
public final class SimulatedRedisStore {

    /** The network ends scripts earlier, so that no real time has a part in it. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final GuardedRedis redis;

    private final RedisRateLimitStore store;

    private final LongAdder lostSettlements = new LongAdder();

    public SimulatedRedisStore(RateLimitScriptExecutor network, ScheduledExecutorService thread, LongSupplier nanos) {
        redis = new GuardedRedis(network, TIMEOUT, "simulated", true, thread, nanos);
        store = new RedisRateLimitStore(
                redis,
                new BucketNaming("simulated"),
                DirectDispatcher::new,
                (guarded, codec, dispatcher) -> new PermitRegistry(guarded, codec, dispatcher, thread, nanos));
        store.onLostSettlement(limit -> lostSettlements.increment());
    }

    public RedisRateLimitStore store() {
        return store;
    }

    public void onAwaitedRelease(Consumer<Charge> listener) {
        store.onAwaitedRelease(listener);
    }

    /** Returns how many settlements the store has counted as lost. */
    public long lostSettlements() {
        return lostSettlements.sum();
    }

    /** Ends as an application that is shut down does. */
    public void stop() {
        redis.stop();
        redis.destroy();
    }
}
