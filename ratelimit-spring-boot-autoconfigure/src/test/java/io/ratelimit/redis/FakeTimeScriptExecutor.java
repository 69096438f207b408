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

    /** How many numbers the script replies for a charge; the third is the time until the bucket is as if never used. */
    private static final int NUMBERS = 3;

    /** A real expiry that no test lives to see, so that nothing is left behind. */
    private static final String BEFORE = """
            local server, now, expiries, offsets = redis, ARGV[#ARGV], {}, {}
            local redis = {error_reply = server.error_reply}
            function redis.call(command, key, value, px, ms)
              if command == 'TIME' then
                return {string.sub(now, 1, -7), string.sub(now, -6)}
              end
              if command == 'SET' then
                assert(px == 'PX' and string.match(ms, '^[1-9]%d*$'), 'no expiry')
                expiries[key], offsets[key] = ms, string.match(value, '^%d+:%d+:%d+:(%d+)$')
                return server.call('SET', key, value, 'PX', 600000)
              end
              return server.call(command, key)
            end
            local function decide()
            """;

    private static final String AFTER = """
            end
            local replies = decide()
            if not replies.err then
              for _, key in ipairs(KEYS) do
                replies[#replies + 1] = tonumber(expiries[key] or -1)
                replies[#replies + 1] = tonumber(offsets[key] or 0)
              end
            end
            return replies
            """;

    private final TemplateScriptExecutor executor;

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
    public List<Long> execute(List<byte[]> keys, byte[][] arguments) {
        return checked(keys.size(), executor.execute(keys, withTime(arguments)));
    }

    @Override
    public CompletionStage<List<Long>> executeAsync(List<byte[]> keys, byte[][] arguments) {
        return executor.executeAsync(keys, withTime(arguments)).thenApply(reply -> checked(keys.size(), reply));
    }

    @Override
    public void delete(byte[] key) {
        executor.delete(key);
    }

    private byte[][] withTime(byte[][] arguments) {
        byte[][] more = Arrays.copyOf(arguments, arguments.length + 1);
        more[arguments.length] = "%07d".formatted(time.micros()).getBytes(StandardCharsets.US_ASCII);
        return more;
    }

    private static List<Long> checked(int charges, List<Long> reply) {
        assertThat(reply).hasSize((NUMBERS + 2) * charges);
        for (int charge = 0; charge < charges; charge++) {
            long resetMicros = reply.get(NUMBERS * charge + 2);
            long expiryMillis = reply.get(NUMBERS * charges + 2 * charge);
            long offset = reply.get(NUMBERS * charges + 2 * charge + 1);
            if (expiryMillis >= 0 && offset == 0) {
                assertThat(expiryMillis).as("expiry").isEqualTo((resetMicros + 999) / 1_000);
            } else if (expiryMillis >= 0) {
                assertThat(expiryMillis * 1_000).as("expiry").isGreaterThanOrEqualTo(resetMicros + offset);
            }
        }
        return List.copyOf(reply.subList(0, NUMBERS * charges));
    }
}
