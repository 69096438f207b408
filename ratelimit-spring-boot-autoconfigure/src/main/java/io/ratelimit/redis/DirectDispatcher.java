package io.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends a script for each call. */
final class DirectDispatcher implements CallDispatcher {

    private final GuardedRedis redis;

    private final ScriptCodec language;

    DirectDispatcher(GuardedRedis redis, ScriptCodec language) {
        this.redis = redis;
        this.language = language;
    }

    @Override
    public void dispatch(PendingCall<?> call) {
        try {
            call.markSent();
            var unused = run(List.of(call), call.deadline()).whenComplete((reply, thrown) -> {
                if (thrown == null) {
                    call.answer(reply, 0);
                } else {
                    call.fail(thrown);
                }
            });
        } catch (Throwable ex) {
            call.fail(RedisFailureMapper.of(RedisTopology.REDIS, ex));
        }
    }

    /** Runs one script for calls whose keys it reaches; on the server that the last of them was found on. */
    CompletableFuture<List<Long>> run(List<PendingCall<?>> calls, TimeLimit bound) {
        List<byte[]> keys = new ArrayList<>(calls.size());
        byte[][] arguments = language.arguments(calls, keys);
        return redis.execute(redis.serverOf(calls.get(calls.size() - 1)), keys, arguments, bound);
    }
}
