package io.ratelimit.redis.connection;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.redis.RateLimitLibrary;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.RedisScript;

/** Runs calls with the asynchronous commands of one Lettuce connection, which all callers share. They never block. */
final class LettuceScriptExecutor extends TemplateScriptExecutor {

    /** The most time that a connection waits for the function to be loaded. */
    private static final Duration LOAD = Duration.ofSeconds(1);

    private final Supplier<RedisClusterAsyncCommands<byte[], byte[]>> commands;

    private final String digest;

    private final byte[] text;

    private final @Nullable RateLimitFunction function;

    /**
     * @param commands returns those of the present connection
     * @param library to run as a function; {@code null} = always the script
     */
    LettuceScriptExecutor(
            RedisConnectionFactory connections,
            Supplier<RedisClusterAsyncCommands<byte[], byte[]>> commands,
            RedisScript<List<Long>> script,
            @Nullable RateLimitLibrary library) {
        super(connections, script);
        this.commands = commands;
        this.function = library == null
                ? null
                : new RateLimitFunction(library, () -> LibraryLoader.load(library, commands.get()));
        this.digest = script.getSha1();
        this.text = script.getScriptAsString().getBytes(StandardCharsets.UTF_8);
    }

    /** Loads the function, too. */
    @Override
    void prepare() {
        super.prepare();
        if (function != null) {
            BoundedWait.await(function.load(), LOAD);
        }
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        Reply reply = new Reply(keys.toArray(byte[][]::new), arguments);
        if (function != null && function.isUsable()) {
            reply.byFunction(function);
        } else {
            reply.byScript();
        }
        return reply;
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

        void byFunction(RateLimitFunction function) {
            follow(commands.get().fcall(function.name(), ScriptOutputType.MULTI, keys, arguments), thrown -> {
                if (function.hasNotRun(thrown)) {
                    byScript();
                } else {
                    completeExceptionally(thrown);
                }
            });
        }

        void byScript() {
            if (digests().areRefused()) {
                byText();
            } else {
                byDigest();
            }
        }

        private void byDigest() {
            follow(commands.get().evalsha(digest, ScriptOutputType.MULTI, keys, arguments), thrown -> {
                if (thrown instanceof RedisNoScriptException) {
                    if (function != null) {
                        function.serverHasRestarted();
                    }
                    byText();
                } else if (digests().areRefusedBy(thrown)) {
                    byText();
                } else {
                    completeExceptionally(thrown);
                }
            });
        }

        private void byText() {
            follow(commands.get().eval(text, ScriptOutputType.MULTI, keys, arguments), this::completeExceptionally);
        }

        /** @param orElse handles the failure of the command, such as by sending the call in another way */
        private void follow(CompletionStage<List<Long>> sent, Consumer<Throwable> orElse) {
            command = (Future<?>) sent;
            var unused = sent.whenComplete((numbers, thrown) -> {
                if (thrown == null) {
                    complete(numbers);
                } else if (!isDone()) {
                    try {
                        orElse.accept(thrown);
                    } catch (Throwable ex) {
                        completeExceptionally(ex);
                    }
                }
            });
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
