package io.ratelimit.redis;

import io.ratelimit.TimeSource;
import io.ratelimit.redis.connection.TemplateScriptExecutor;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * Collects calls, each with the test's time, and has a real Redis decide them in one round trip, one after the other by
 * the script as it is. By that time keys also expire.
 */
final class BatchScriptExecutor implements RateLimitScriptExecutor {

    /**
     * A call is its time, how many keys and arguments it has, and those arguments; its reply is preceded by how many
     * numbers it has. A key is gone at the first moment at which Redis may drop it. In truth it lives longer than any
     * batch takes, but is not left behind.
     */
    private static final String BEFORE = """
            local server, allKeys, allArguments, now, expiries = redis, KEYS, ARGV, nil, {}
            local function expire(key, millis)
              expiries[key] = now + millis * 1000
              return '600000'
            end
            local function over(call)
              return function(command, key, ...)
                if command == 'TIME' then
                  return {string.sub(now, 1, -7), string.sub(now, -6)}
                end
                if expiries[key] and tonumber(now) >= expiries[key] then
                  server.call('DEL', key)
                  expiries[key] = nil
                end
                local arguments = {...}
                if command == 'SET' then
                  assert(arguments[2] == 'PX', 'no expiry')
                  arguments[3] = expire(key, arguments[3])
                elseif command == 'PEXPIRE' then
                  arguments[1] = expire(key, arguments[1])
                end
                return call(command, key, unpack(arguments))
              end
            end
            local redis = setmetatable({call = over(server.call), pcall = over(server.pcall)}, {__index = server})
            local function decide(KEYS, ARGV)
            """;

    private static final String AFTER = """
            end
            local replies, keysDone, at = {}, 0, 1
            while at < #allArguments do
              now = allArguments[at]
              local keys, arguments = {}, {}
              for i = 1, allArguments[at + 1] do
                keys[i] = allKeys[keysDone + i]
              end
              for i = 1, allArguments[at + 2] do
                arguments[i] = allArguments[at + 2 + i]
              end
              keysDone = keysDone + #keys
              at = at + 3 + #arguments
              local reply = decide(keys, arguments)
              replies[#replies + 1] = #reply
              for _, number in ipairs(reply) do
                replies[#replies + 1] = number
              end
            end
            return replies
            """;

    private final RateLimitScriptExecutor executor;

    private final TimeSource time;

    private List<Call> calls = new ArrayList<>();

    @SuppressWarnings({"rawtypes", "unchecked"})
    BatchScriptExecutor(RedisConnectionFactory connections, TimeSource time) {
        String text = BEFORE + RateLimitScript.text() + AFTER;
        this.executor = TemplateScriptExecutor.over(
                connections, (DefaultRedisScript) new DefaultRedisScript<>(text, List.class));
        this.time = time;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        Call call = new Call(time.micros(), keys, List.of(arguments), new CompletableFuture<>());
        calls.add(call);
        return call.reply;
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        flush();
        return executor.delete(key);
    }

    /** Sends what has been collected. Does not wait for the replies. */
    void flush() {
        List<Call> batch = calls;
        calls = new ArrayList<>();
        List<byte[]> keys = batch.stream().flatMap(call -> call.keys.stream()).toList();
        List<byte[]> arguments = new ArrayList<>();
        batch.forEach(call -> call.addTo(arguments));
        executor.execute(keys, arguments.toArray(byte[][]::new)).whenComplete((replies, thrown) -> {
            if (thrown != null) {
                batch.forEach(call -> call.reply.completeExceptionally(thrown));
            } else {
                distribute(batch, replies);
            }
        });
    }

    private static void distribute(List<Call> batch, List<Long> replies) {
        int at = 0;
        for (Call call : batch) {
            int end = at + 1 + replies.get(at).intValue();
            call.reply.complete(List.copyOf(replies.subList(at + 1, end)));
            at = end;
        }
    }

    private record Call(long now, List<byte[]> keys, List<byte[]> arguments, CompletableFuture<List<Long>> reply) {

        void addTo(List<byte[]> all) {
            all.add(ascii("%07d".formatted(now)));
            all.add(ascii("" + keys.size()));
            all.add(ascii("" + arguments.size()));
            all.addAll(arguments);
        }

        private static byte[] ascii(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }
    }
}
