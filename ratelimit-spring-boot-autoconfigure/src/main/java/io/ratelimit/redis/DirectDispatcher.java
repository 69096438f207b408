package io.ratelimit.redis;

import io.ratelimit.redis.connection.RedisTopology;
import java.util.List;

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
            ScriptInput input = language.input(List.of(call));
            var unused = redis.execute(input.keys(), input.arguments().toArray(byte[][]::new), call.deadline())
                    .whenComplete((reply, thrown) -> {
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
}
