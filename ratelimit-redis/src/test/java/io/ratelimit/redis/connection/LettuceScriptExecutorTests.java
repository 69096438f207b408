package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandType;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.ScriptedServers;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** A command that no call waits for any more would be sent again after a reconnect. */
class LettuceScriptExecutorTests {

    /** Those on their way to a server that says nothing by itself. */
    private final List<AsyncCommand<byte[], byte[], List<Long>>> sent = new ArrayList<>();

    private final CompletableFuture<List<Long>> reply =
            executor().execute(ScriptedServers.keys("key"), new byte[0][]).toCompletableFuture();

    private RateLimitScriptExecutor executor() {
        RedisClusterAsyncCommands<byte[], byte[]> commands = commands();
        return new LettuceScriptExecutor(new LettuceConnectionFactory(), () -> commands, RateLimitScript.load(), null);
    }

    @SuppressWarnings("unchecked")
    private RedisClusterAsyncCommands<byte[], byte[]> commands() {
        return (RedisClusterAsyncCommands<byte[], byte[]>) Proxy.newProxyInstance(
                RedisClusterAsyncCommands.class.getClassLoader(),
                new Class<?>[] {RedisClusterAsyncCommands.class},
                (self, method, arguments) -> switch (method.getName()) {
                    case "evalsha" -> send(CommandType.EVALSHA);
                    case "eval" -> send(CommandType.EVAL);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private AsyncCommand<byte[], byte[], List<Long>> send(CommandType type) {
        AsyncCommand<byte[], byte[], List<Long>> command = new AsyncCommand<>(new Command<>(type, null));
        sent.add(command);
        return command;
    }

    private void forgetScript() {
        sent.get(0).completeExceptionally(new RedisNoScriptException("NOSCRIPT No matching script"));
    }

    @Test
    void whoeverCancelsCancelsTheCommandThatIsUnderWay() {
        reply.cancel(false);
        assertThat(sent).singleElement().matches(AsyncCommand::isCancelled);
        assertThat(reply).isCancelled();
    }

    @Test
    void whoeverCancelsCancelsTheScriptsTextThatIsUnderWay() {
        forgetScript();
        assertThat(sent).extracting(AsyncCommand::getType).containsExactly(CommandType.EVALSHA, CommandType.EVAL);
        reply.cancel(false);
        assertThat(sent.get(1).isCancelled()).isTrue();
        assertThat(reply).isCancelled();
    }

    @Test
    void textIsNotSentOnceNobodyWaits() {
        reply.completeExceptionally(new IllegalStateException("left"));
        forgetScript();
        assertThat(sent).hasSize(1);
    }
}
