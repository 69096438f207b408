package io.ratelimit.redis;

import java.util.List;

/** A script for each call. */
final class OneByOne implements Decider {

    private final GuardedRedis redis;

    private final ScriptLanguage language;

    OneByOne(GuardedRedis redis, ScriptLanguage language) {
        this.redis = redis;
        this.language = language;
    }

    @Override
    public void decide(PendingCall<?> call) {
        ScriptInput input = language.input(List.of(call));
        var unused = redis.execute(input.keys(), input.arguments().toArray(byte[][]::new), call.deadline())
                .whenComplete((reply, thrown) -> {
                    if (thrown == null) {
                        call.answer(reply, 0);
                    } else {
                        call.fail(thrown);
                    }
                });
    }
}
