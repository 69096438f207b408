package io.ratelimit.redis.connection;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Runs the script with the asynchronous commands of the Lettuce connection that the template shares among all callers. They
 * never block once there is a connection.
 */
final class LettuceScriptExecutor extends TemplateScriptExecutor {

    private final String digest;

    private final byte[] text;

    LettuceScriptExecutor(RedisConnectionFactory connections, RedisScript<List<Long>> script) {
        super(connections, script);
        this.digest = script.getSha1();
        this.text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return new Reply(keys.toArray(byte[][]::new), arguments).byDigest();
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return commands().del(key);
    }

    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return Objects.requireNonNull(template()
                .execute(
                        (RedisCallback<RedisClusterAsyncCommands<byte[], byte[]>>) connection ->
                                (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection(),
                        true));
    }

    /** Completes with the reply of the script. Its cancellation cancels the command that is under way. */
    private final class Reply extends CompletableFuture<List<Long>> {

        private final byte[][] keys;

        private final byte[][] arguments;

        private volatile @Nullable Future<?> command;

        Reply(byte[][] keys, byte[][] arguments) {
            this.keys = keys;
            this.arguments = arguments;
        }

        Reply byDigest() {
            follow(commands().evalsha(digest, ScriptOutputType.MULTI, keys, arguments));
            return this;
        }

        private void follow(CompletionStage<List<Long>> sent) {
            command = (Future<?>) sent;
            var unused = sent.whenComplete((numbers, thrown) -> {
                if (thrown == null) {
                    complete(numbers);
                } else if (thrown instanceof RedisNoScriptException && !isDone()) {
                    byText();
                } else {
                    completeExceptionally(thrown);
                }
            });
        }

        /** Sends the text of the script, because the server does not know its digest. */
        private void byText() {
            try {
                follow(commands().eval(text, ScriptOutputType.MULTI, keys, arguments));
            } catch (RuntimeException ex) {
                completeExceptionally(ex);
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            Future<?> sent = command;
            if (sent != null) {
                sent.cancel(mayInterrupt);
            }
            return super.cancel(mayInterrupt);
        }
    }
}
