package io.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends each call in a script of its own. */
final class DirectDispatcher implements CallDispatcher {

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    DirectDispatcher(GuardedRedis redis, ScriptCodec codec) {
        this.redis = redis;
        this.codec = codec;
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

    /** Runs one script for the calls, on the server that was found for the last of them. */
    CompletableFuture<List<Long>> run(List<PendingCall<?>> calls, TimeLimit bound) {
        List<byte[]> keys = new ArrayList<>(calls.size());
        byte[][] arguments = codec.arguments(calls, keys);
        return redis.execute(redis.serverOf(calls.get(calls.size() - 1)), keys, arguments, bound);
    }
}
