package io.ratelimit.redis.change;

import io.ratelimit.internal.change.ChangeScript;
import io.ratelimit.redis.RedisFailureMapper;
import io.ratelimit.redis.connection.BackgroundScript;
import io.ratelimit.redis.connection.RedisConnector;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** Runs {@code overrides.lua}. */
public final class RedisChangeScript implements ChangeScript {

    private final BackgroundScript<String> script;

    private final List<String> keys;

    /** @param keyPrefix the prefix of all keys of the starter */
    public RedisChangeScript(RedisConnector connector, String keyPrefix) {
        this.script = new BackgroundScript<>(
                connector, "overrides.lua", String.class, "changes of limits", "ratelimit-changes");
        this.keys = List.of(keyPrefix + ":%overrides");
    }

    @Override
    public CompletionStage<String> run(List<String> arguments) {
        CompletionStage<String> reply = script.run(keys, arguments);
        return arguments.isEmpty() ? reply : RedisFailureMapper.sayingIfUnchanged(reply);
    }
}
