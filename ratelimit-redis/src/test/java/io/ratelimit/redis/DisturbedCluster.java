package io.ratelimit.redis;

import io.ratelimit.redis.script.ScriptCall;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A cluster, by its word, on which something befalls one of the runs that charge and may have to refund. */
public final class DisturbedCluster implements RateLimitScriptExecutor {

    private final RateLimitScriptExecutor executor;

    private int left;

    private Runnable event = () -> {};

    public DisturbedCluster(RateLimitScriptExecutor executor) {
        this.executor = executor;
    }

    /** Before the n-th charge, from 1 on. A charge fails if the event does. */
    public void beforeCharge(int number, Runnable newEvent) {
        left = number;
        event = newEvent;
    }

    @Override
    public RedisTopology topology() {
        return RedisTopology.UNKNOWN_CLUSTER;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        if (arguments[0][0] == ScriptCall.CHARGE_WITH_RECEIPTS.code() && --left == 0) {
            // Not in the driver's thread, which the event may need.
            return CompletableFuture.runAsync(event).thenCompose(done -> executor.execute(keys, arguments));
        }
        return executor.execute(keys, arguments);
    }
}
