package io.ratelimit.redis.change;

import io.ratelimit.internal.change.ChangeScript;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.core.script.RedisScript;

/** Runs {@code overrides.lua}. */
public final class RedisChangeScript implements ChangeScript {

    private final RedisScript<String> script = BackgroundCommands.script("overrides.lua", String.class);

    private final BackgroundCommands commands;

    private final List<String> keys;

    /** @param keyPrefix the prefix of all keys of the starter */
    public RedisChangeScript(RedisConnector connector, String keyPrefix) {
        this.commands = new BackgroundCommands(connector, "changes of limits", "ratelimit-changes", 2, 100);
        this.keys = List.of(keyPrefix + ":%overrides");
    }

    @Override
    public CompletionStage<String> run(List<String> arguments) {
        CompletionStage<String> reply = commands.run(script, keys, arguments);
        return arguments.isEmpty() ? reply : RedisFailureMapper.sayingIfUnchanged(reply);
    }
}
