package io.ratelimit.redis.batch;

import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.ServerCall;
import io.ratelimit.redis.door.ServerCircuitBreaker;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import java.util.ArrayList;
import java.util.List;

/** Sends each call in a script of its own. */
public record DirectDispatcher(GuardedRedis redis, ScriptCodec codec) implements CallDispatcher {

    @Override
    public void dispatch(PendingCall<?> call) {
        if (call.nanosLeft() <= 0) {
            call.failUnsent();
            return;
        }
        try {
            call.markSent();
            var unused = send(List.of(call)).by(call.deadline()).whenComplete((reply, thrown) -> {
                if (thrown == null) {
                    call.answer(reply, 0);
                } else {
                    call.fail(thrown);
                }
            });
        } catch (Throwable ex) {
            call.fail(ex);
        }
    }

    /** Sends one script for the calls, on the server that was found for the last of them. */
    ServerCall<List<Long>> send(List<PendingCall<?>> calls) {
        List<byte[]> keys = new ArrayList<>(calls.size());
        byte[][] arguments = codec.arguments(calls, keys);
        ServerCircuitBreaker server = calls.get(calls.size() - 1).serverOf(redis);
        return redis.send(server, keys, arguments, haveCallers(calls));
    }

    /** No caller waits for a release, so a script of releases alone must not open the circuit breaker. */
    private static boolean haveCallers(List<PendingCall<?>> calls) {
        for (PendingCall<?> call : calls) {
            if (call.call() != ScriptCall.RELEASE) {
                return true;
            }
        }
        return false;
    }
}
