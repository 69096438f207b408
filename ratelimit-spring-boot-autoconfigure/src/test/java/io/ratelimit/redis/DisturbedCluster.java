package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A cluster, by its word, on which something befalls one of the runs that charge and may have to give back. */
final class DisturbedCluster implements RateLimitScriptExecutor {

    private final RateLimitScriptExecutor executor;

    private int left;

    private Runnable event = () -> {};

    DisturbedCluster(RateLimitScriptExecutor executor) {
        this.executor = executor;
    }

    /** Before the n-th charge, from 1 on. A charge fails if the event does. */
    void beforeCharge(int number, Runnable newEvent) {
        left = number;
        event = newEvent;
    }

    @Override
    public boolean isClustered() {
        return true;
    }

    @Override
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, arguments);
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        if (arguments[0][0] == ScriptCall.CHARGE_WITH_RECEIPTS.code()[0] && --left == 0) {
            try {
                event.run();
            } catch (RuntimeException ex) {
                return CompletableFuture.failedFuture(ex);
            }
        }
        return executor.executeAsync(keys, arguments);
    }

    @Override
    public void delete(byte[] key) {
        executor.delete(key);
    }
}
