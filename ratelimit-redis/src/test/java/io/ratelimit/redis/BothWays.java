package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs everything twice, as a script and as a function of a library, which has keys of its own, and replies what both reply
 * alike. On a server without functions, as a script alone.
 */
public final class BothWays implements RateLimitScriptExecutor {

    private static final byte[] OF_THE_FUNCTION = "function ".getBytes(StandardCharsets.US_ASCII);

    private static final Executor ORDER = Executors.newSingleThreadExecutor(runnable -> {
        Thread thread = new Thread(runnable, "both-ways");
        thread.setDaemon(true);
        return thread;
    });

    private final RateLimitScriptExecutor script;

    private final RedisClusterAsyncCommands<byte[], byte[]> lettuce;

    private final String function;

    private final boolean hasFunctions;

    /** @param library its name is that of its function */
    BothWays(RateLimitScriptExecutor script, RedisConnectionFactory connections, String function, String library) {
        this.script = script;
        this.function = function;
        this.lettuce = lettuce(connections);
        this.hasFunctions = hasFunctions(connections);
        if (hasFunctions) {
            load(library);
        }
    }

    private void load(String library) {
        CompletionStage<?> loaded = lettuce instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster
                ? CompletableFuture.allOf(cluster.upstream()
                        .commands()
                        .functionLoad(library, true)
                        .futures())
                : lettuce.functionLoad(library, true);
        loaded.toCompletableFuture().join();
    }

    public static boolean hasFunctions(RedisConnectionFactory connections) {
        return lettuce(connections)
                .functionList()
                .handle((libraries, thrown) ->
                        thrown == null || !thrown.getMessage().contains("unknown command"))
                .toCompletableFuture()
                .join();
    }

    @SuppressWarnings("unchecked")
    static RedisClusterAsyncCommands<byte[], byte[]> lettuce(RedisConnectionFactory connections) {
        try (RedisConnection connection = connections.getConnection()) {
            return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
        }
    }

    /**
     * On one thread, so that calls of several run in the same order both ways. A command that the driver's own thread sends
     * overtakes those that others have handed over to it.
     */
    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return hasFunctions ? inOrder(() -> executeBoth(keys, arguments)) : script.execute(keys, arguments);
    }

    private CompletionStage<List<Long>> executeBoth(List<byte[]> keys, byte[][] arguments) {
        byte[][] twins = keys.stream().map(BothWays::twin).toArray(byte[][]::new);
        CompletionStage<List<Long>> byScript = script.execute(keys, arguments);
        CompletionStage<List<Long>> byFunction = lettuce.fcall(function, ScriptOutputType.MULTI, twins, arguments);
        return byScript.thenCombine(byFunction, (expected, reply) -> {
            assertThat(reply).as("reply of the function").isEqualTo(expected);
            return expected;
        });
    }

    private static <T> CompletionStage<T> inOrder(Supplier<CompletionStage<T>> commands) {
        return CompletableFuture.supplyAsync(commands, ORDER).thenCompose(Function.identity());
    }

    /** Returns the key of the function instead of one of the script. */
    public static String twin(String key) {
        return new String(OF_THE_FUNCTION, StandardCharsets.US_ASCII) + key;
    }

    private static byte[] twin(byte[] key) {
        byte[] twin = new byte[OF_THE_FUNCTION.length + key.length];
        System.arraycopy(OF_THE_FUNCTION, 0, twin, 0, OF_THE_FUNCTION.length);
        System.arraycopy(key, 0, twin, OF_THE_FUNCTION.length, key.length);
        return twin;
    }
}
