package io.ratelimit.redis;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs the script on a real Redis, by the server's own time, and logs what it decides: when, and as which in the order of
 * all. The same run counts them, under a key of the bucket's own slot. For calls of one limit.
 */
final class SequencedScriptExecutor implements RateLimitScriptExecutor {

    private static final String BEFORE = """
            local time
            function on_command(call, command, ...)
              local reply = call(command, ...)
              if command == 'TIME' then
                assert(not time, 'the time was read twice')
                time = reply
              end
              return reply
            end
            """;

    private static final String AFTER = """
            local replies = decide(KEYS, ARGV)
            local sequence = KEYS[1] .. ':sequence'
            replies[#replies + 1] = time[1] * 1000000 + time[2]
            replies[#replies + 1] = server.call('INCRBY', sequence, #ARGV[1])
            server.call('EXPIRE', sequence, 600)
            return replies
            """;

    /** The code of a call that wants what the one before it does. */
    private static final char AS_BEFORE = '=';

    private final RateLimitScriptExecutor executor;

    private final RateLimit limit;

    private final Queue<LoggedDecision> log = new ConcurrentLinkedQueue<>();

    private final AtomicInteger runs = new AtomicInteger();

    SequencedScriptExecutor(RedisConnectionFactory connections, RateLimit limit) {
        this.limit = limit;
        this.executor = WrappedScript.executor(connections, BEFORE, AFTER);
    }

    /** All that has been decided. */
    List<LoggedDecision> log() {
        return List.copyOf(log);
    }

    /** How many scripts it took. */
    int runs() {
        return runs.get();
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, arguments).thenApply(reply -> noted(arguments, reply));
    }

    private List<Long> noted(byte[][] arguments, List<Long> reply) {
        runs.incrementAndGet();
        int end = reply.size() - 2;
        long micros = reply.get(end);
        byte[] codes = arguments[0];
        long before = reply.get(end + 1) - codes.length;
        long permits = 0;
        int said = 1;
        for (int i = 0; i < codes.length; i++) {
            if (codes[i] != AS_BEFORE) {
                permits = Long.parseLong(new String(arguments[said + 1], StandardCharsets.US_ASCII));
                said += 2;
            }
            log.add(new LoggedDecision(before + 1 + i, micros, permits, decision(reply, 4 * i)));
        }
        return reply.subList(0, end);
    }

    private RateLimitDecision decision(List<Long> reply, int at) {
        return RateLimitDecision.ofMicros(
                limit.capacity(), reply.get(at), reply.get(at + 1), reply.get(at + 2), reply.get(at + 3));
    }
}
