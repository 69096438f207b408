package io.ratelimit.redis.change;

import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.change.OverrideCodec;
import io.ratelimit.internal.change.OverrideRepository;
import io.ratelimit.internal.change.OverrideSnapshot;
import io.ratelimit.internal.change.OverrideSynchronizer;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.door.RedisFailureMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Stores the overrides in Redis: one value for all limits, so that they are read by one command. The script that changes them also
 * publishes the message about the change, so that no thread waits for that.
 */
public final class RedisOverrideRepository implements OverrideRepository {

    private static final String UNPUBLISHED = "unpublished";

    private final Function<List<String>, CompletionStage<String>> script;

    private final @Nullable RedisChangeChannel channel;

    private final OverrideCodec codec = new OverrideCodec();

    /**
     * @param script runs {@code overrides.lua} with these arguments
     * @param channel of the messages about changes; {@code null}: other instances are not told of them
     */
    public RedisOverrideRepository(
            Function<List<String>, CompletionStage<String>> script, @Nullable RedisChangeChannel channel) {
        this.script = script;
        this.channel = channel;
    }

    /**
     * Creates the repository of all instances that have this connection and prefix.
     *
     * @param keyPrefix the prefix of all keys of the starter
     */
    public static RedisOverrideRepository of(RedisConnector connector, String keyPrefix, RedisChangeChannel channel) {
        BackgroundCommands commands =
                new BackgroundCommands(connector, "changes of limits", "ratelimit-changes", 2, 100);
        RedisScript<String> script = BackgroundCommands.script("overrides.lua", String.class);
        List<String> keys = List.of(keyPrefix + ":%overrides");
        return new RedisOverrideRepository(arguments -> commands.run(script, keys, arguments), channel);
    }

    @Override
    public CompletionStage<OverrideSnapshot> read() {
        return script.apply(List.of()).thenApply(codec::decode);
    }

    @Override
    public CompletionStage<OverrideSnapshot> write(
            String id, @Nullable RateLimitOverride next, @Nullable String principal, long expectedVersion) {
        Duration duration = next == null ? null : next.duration();
        List<String> arguments = new ArrayList<>();
        arguments.add(id);
        arguments.add(Long.toString(expectedVersion));
        arguments.add(duration == null ? "0" : Long.toString(duration.toNanos() / 1_000));
        arguments.add(next == null ? "" : codec.encode(next, principal));
        if (channel != null) {
            arguments.addAll(channel.publication(OverrideSynchronizer.TOPIC, id));
        }
        return RedisFailureMapper.sayingIfUnchanged(script.apply(arguments)).thenApply(reply -> {
            if (channel != null && reply.lines().findFirst().orElse("").endsWith(UNPUBLISHED)) {
                // Scripts may not do it. The command may, or tells what is missing.
                channel.send(OverrideSynchronizer.TOPIC, id);
            }
            return codec.decode(reply);
        });
    }

    @Override
    public boolean isShared() {
        return true;
    }
}
