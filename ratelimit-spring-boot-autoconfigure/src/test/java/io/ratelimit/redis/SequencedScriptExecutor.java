package io.ratelimit.redis;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * Runs the script on a real Redis, by the server's own time, and tells of every run when it was and which in the order of
 * all: the same run counts it, under a key of the bucket's own slot. For one thread.
 */
final class SequencedScriptExecutor implements RateLimitScriptExecutor {

    private static final String BEFORE = """
            local server, time = redis, nil
            local redis = setmetatable({}, {__index = server})
            function redis.call(command, ...)
              local reply = server.call(command, ...)
              if command == 'TIME' then
                assert(not time, 'the time was read twice')
                time = reply
              end
              return reply
            end
            local function decide()
            """;

    private static final String AFTER = """
            end
            local replies = decide()
            local sequence = KEYS[1] .. ':sequence'
            replies[#replies + 1] = time[1] * 1000000 + time[2]
            replies[#replies + 1] = server.call('INCR', sequence)
            server.call('EXPIRE', sequence, 600)
            return replies
            """;

    private final RateLimitScriptExecutor executor;

    private long lastMicros;

    private long lastNumber;

    @SuppressWarnings({"rawtypes", "unchecked"})
    SequencedScriptExecutor(RedisConnectionFactory connections) {
        this.executor = TemplateScriptExecutor.over(connections, (DefaultRedisScript)
                new DefaultRedisScript<>(BEFORE + RateLimitScript.text() + AFTER, List.class));
    }

    /** When the last run was. */
    long lastMicros() {
        return lastMicros;
    }

    /** Which of all runs the last was, from 1 on. */
    long lastNumber() {
        return lastNumber;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, arguments).thenApply(this::noted);
    }

    private List<Long> noted(List<Long> reply) {
        int numbers = reply.size() - 2;
        lastMicros = reply.get(numbers);
        lastNumber = reply.get(numbers + 1);
        return reply.subList(0, numbers);
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return executor.delete(key);
    }
}
