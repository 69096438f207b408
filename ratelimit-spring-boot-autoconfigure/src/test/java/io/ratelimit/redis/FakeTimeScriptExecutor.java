package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.TimeSource;
import io.ratelimit.redis.connection.TemplateScriptExecutor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    private static final char FURTHER = '+';

    private static final char AS_BEFORE = '=';

    private static final char LOOK = '0';

    /** How many numbers it replies for a charge, by what is asked. */
    private static final Map<Character, Integer> NUMBERS =
            Map.of('0', 4, '1', 4, ',', 4, '=', 4, '2', 8, '3', 0, '4', 9);

    /** How many numbers are added here for each charge. */
    private static final int ADDED = 3;

    /** A real expiry that no test lives to see, so that nothing is left behind. */
    private static final String BEFORE = """
            local server, now, expiries, texts, written = redis, ARGV[#ARGV], {}, {}, {}
            local redis = {pcall = server.pcall}
            local function expire(key, ms)
              assert(string.match(ms, '^[1-9]%d*$'), 'no expiry')
              expiries[key] = ms
              return 600000
            end
            local function is_packed(argument)
              return string.byte(argument) == 0
            end
            function redis.call(command, key, ...)
              local arguments = {...}
              for _, argument in ipairs(arguments) do
                assert(is_packed(argument) or not string.find(argument, '[.e-]') or argument == -1,
                  'no whole number in ' .. argument)
              end
              if command == 'TIME' then
                return {string.sub(now, 1, -7), string.sub(now, -6)}
              elseif command == 'SET' then
                assert(arguments[2] == 'PX', 'no expiry')
                texts[key], arguments[3] = arguments[1], expire(key, arguments[3])
                written[key] = true
              elseif command == 'LSET' or command == 'RPUSH' then
                local value = arguments[#arguments]
                texts[key], written[key] = is_packed(value) and texts[key] or value, true
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
            for _, key in ipairs(KEYS) do
              local text = texts[key] or ''
              replies[#replies + 1] = tonumber(expiries[key] or -1)
              replies[#replies + 1] = tonumber(string.match(text, '%+(%d+):') or 0)
              replies[#replies + 1] = string.find(text, ' ') and 0 or 1
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
        return executor.execute(keys, withTime(arguments)).thenApply(reply -> checked(keys, text(arguments[0]), reply));
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

    /** Of calls on the same bucket, the reply to the last that can write is compared with what was written. */
    private static List<Long> checked(List<byte[]> keys, String codes, List<Long> reply) {
        int end = reply.size() - ADDED * keys.size();
        Map<String, Long> resets = new HashMap<>();
        char call = 0;
        int from = 0;
        int key = -1;
        for (int i = 0; i < codes.length(); i++) {
            char code = codes.charAt(i);
            call = code == FURTHER ? call : code;
            key += code == AS_BEFORE ? 0 : 1;
            int numbers = NUMBERS.get(call);
            if (numbers > 0 && call != LOOK) {
                resets.put(text(keys.get(key)), reply.get(from + RESET));
            }
            from += numbers;
        }
        assertThat(from).isEqualTo(end);
        for (int i = 0; i < keys.size(); i++) {
            Long resetMicros = resets.get(text(keys.get(i)));
            if (resetMicros != null && resetMicros >= 0) {
                checkExpiry(resetMicros, reply.subList(end + ADDED * i, end + ADDED * (i + 1)));
            }
        }
        return List.copyOf(reply.subList(0, end));
    }

    private static void checkExpiry(long resetMicros, List<Long> written) {
        long expiryMillis = written.get(0);
        long offset = written.get(1);
        boolean oneSection = written.get(2) == 1;
        if (expiryMillis >= 0 && oneSection) {
            assertThat(expiryMillis).as("expiry").isEqualTo((resetMicros + 999) / 1_000);
        } else if (expiryMillis >= 0) {
            assertThat(expiryMillis * 1_000).as("expiry").isGreaterThanOrEqualTo(resetMicros + offset);
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
