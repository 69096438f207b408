package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.TimeSource;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.script.DefaultRedisScript;

/**
 * Runs the script on a real Redis whose TIME is the test's. Keys expire by that time neither too early nor too late:
 * what the script asks for is checked here, and real time has no part in it.
 */
final class FakeTimeScriptExecutor implements RateLimitScriptExecutor {

    /** Which of the numbers that the script replies for a charge is the time until the bucket is as if never used. */
    private static final int RESET = 3;

    /** How many numbers are added here for each charge. */
    private static final int ADDED = 3;

    /** A real expiry that no test lives to see, so that nothing is left behind. */
    private static final String BEFORE = """
            local server, now, expiries, texts, written = redis, ARGV[#ARGV], {}, {}, {}
            local redis = {error_reply = server.error_reply, pcall = server.pcall}
            local function expire(key, ms)
              assert(string.match(ms, '^[1-9]%d*$'), 'no expiry')
              expiries[key] = ms
              return 600000
            end
            function redis.call(command, key, ...)
              local arguments = {...}
              for _, argument in ipairs(arguments) do
                assert(not string.find(argument, '[.e-]') or argument == -1, 'no whole number in ' .. argument)
              end
              if command == 'TIME' then
                return {string.sub(now, 1, -7), string.sub(now, -6)}
              elseif command == 'SET' then
                assert(arguments[2] == 'PX', 'no expiry')
                texts[key], arguments[3] = arguments[1], expire(key, arguments[3])
                written[key] = true
              elseif command == 'LPUSH' then
                texts[key], written[key] = arguments[1], true
              elseif command == 'PEXPIRE' then
                arguments[1] = expire(key, arguments[1])
              end
              return server.call(command, key, unpack(arguments))
            end
            local function decide()
            """;

    private static final String AFTER = """
            end
            local replies = decide()
            for key in pairs(written) do assert(expiries[key], 'written without an expiry: ' .. key) end
            if not replies.err then
              for _, key in ipairs(KEYS) do
                local text = texts[key] or ''
                replies[#replies + 1] = tonumber(expiries[key] or -1)
                replies[#replies + 1] = tonumber(string.match(text, '%+(%d+):') or 0)
                replies[#replies + 1] = string.find(text, ' ') and 0 or 1
              end
            end
            return replies
            """;

    private final RateLimitScriptExecutor executor;

    private final TimeSource time;

    @SuppressWarnings({"rawtypes", "unchecked"})
    FakeTimeScriptExecutor(RedisConnectionFactory connections, TimeSource time) {
        this.executor = TemplateScriptExecutor.over(
                connections, (DefaultRedisScript) new DefaultRedisScript<>(scriptText(), List.class));
        this.time = time;
    }

    private static String scriptText() {
        return BEFORE + RateLimitScript.text() + AFTER;
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        return executor.execute(keys, withTime(arguments)).thenApply(reply -> checked(keys.size(), reply));
    }

    @Override
    public CompletionStage<?> delete(byte[] key) {
        return executor.delete(key);
    }

    private byte[][] withTime(byte[][] arguments) {
        byte[][] more = Arrays.copyOf(arguments, arguments.length + 1);
        more[arguments.length] = "%07d".formatted(time.micros()).getBytes(StandardCharsets.US_ASCII);
        return more;
    }

    /** A reply to charges has as many numbers for each; one to what was given back has none. */
    private static List<Long> checked(int charges, List<Long> reply) {
        int end = reply.size() - ADDED * charges;
        int numbers = charges == 0 ? 0 : end / charges;
        assertThat(numbers).isIn(0, 4, 7);
        for (int charge = 0; charge < charges && numbers > 0; charge++) {
            long resetMicros = reply.get(numbers * charge + RESET);
            int at = end + ADDED * charge;
            long expiryMillis = reply.get(at);
            long offset = reply.get(at + 1);
            boolean oneSection = reply.get(at + 2) == 1;
            if (expiryMillis >= 0 && oneSection) {
                assertThat(expiryMillis).as("expiry").isEqualTo((resetMicros + 999) / 1_000);
            } else if (expiryMillis >= 0) {
                assertThat(expiryMillis * 1_000).as("expiry").isGreaterThanOrEqualTo(resetMicros + offset);
            }
        }
        return List.copyOf(reply.subList(0, end));
    }
}
