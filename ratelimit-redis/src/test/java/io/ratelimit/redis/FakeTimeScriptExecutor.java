package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.spi.TimeSource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Runs the script on a real Redis whose TIME is the test's, as a script and as a function. Keys expire by that time neither too early nor too late: what
 * the script asks for is checked here, and real time has no part in it.
 *
 * <p>If it is collecting, calls wait for {@link #flush()}, which has all of them decided in one round trip, one after the
 * other, each at its own time. There a key is gone at the first moment at which Redis may drop it.
 */
public final class FakeTimeScriptExecutor implements RateLimitScriptExecutor {

    /** Which of the numbers that the script replies for a charge is the time until the bucket is full again. */
    private static final int RESET = 3;

    private static final char FURTHER = '+';

    private static final char AS_BEFORE = '=';

    private static final char LOOK = '0';

    private static final char SETTLE = '3';

    private static final char RENEW = '8';

    /** Which of the numbers that a renewal replies is how many holders were reset. */
    private static final int ENDED = 2;

    /** How many numbers it replies for a charge, by what is asked. */
    private static int numbers(char asked) {
        return switch (asked) {
            case '2', '6' -> 8;
            case '3' -> 0;
            case '4' -> 9;
            default -> 4;
        };
    }

    /** How many numbers are added here for each key. */
    private static final int ADDED = 3;

    /** Gives a key a real expiry that no test lives to see, so that nothing is left behind. */
    private static final String BEFORE = """
            local EXPIRES = 'expires '
            local expiries, texts, written, gone = {}, {}, {}, {}
            local function expire(key, millis)
              assert(string.match(millis, '^[1-9]%d*$'), 'no expiry')
              expiries[key], gone[key] = millis * 1000, now + millis * 1000
              server.call('SET', EXPIRES .. key, string.format('%.0f', gone[key]), 'PX', 600000)
              return '600000'
            end
            local function keep_expiry(key)
              expiries[key] = assert(server.call('GET', EXPIRES .. key), 'no expiry to keep') - now
            end
            local function is_packed(argument)
              return string.byte(argument) == 0
            end
            function on_command(call, command, key, ...)
              if gone[key] and now >= gone[key] then
                server.call('DEL', key)
                gone[key] = nil
              end
              local arguments = {...}
              for _, argument in ipairs(arguments) do
                assert(is_packed(argument) or argument == -1
                    or not string.find(argument, '[.-]') and not string.find(argument, '%de'),
                  'no whole number in ' .. argument)
              end
              if command == 'SET' then
                texts[key], written[key] = arguments[1], true
                if arguments[2] == 'KEEPTTL' then
                  keep_expiry(key)
                else
                  assert(arguments[2] == 'PX', 'no expiry')
                  arguments[3] = expire(key, arguments[3])
                end
              elseif command == 'LSET' or command == 'RPUSH' then
                local value = arguments[#arguments]
                texts[key], written[key] = is_packed(value) and texts[key] or value, true
              elseif command == 'PEXPIRE' then
                arguments[1] = expire(key, arguments[1])
              end
              return call(command, key, unpack(arguments))
            end
            """;

    /**
     * A call is its time, how many keys and arguments it has, and those arguments. Its reply comes after how many numbers
     * it has, and before three more for each key.
     */
    private static final String AFTER = """
            local replies, keys_done, at = {}, 0, 1
            gone = {}
            local function add(number) replies[#replies + 1] = number end
            while at < #ARGV do
              now, expiries, texts, written = tonumber(ARGV[at]), {}, {}, {}
              local keys, arguments = {}, {}
              for i = 1, ARGV[at + 1] do keys[i] = KEYS[keys_done + i] end
              for i = 1, ARGV[at + 2] do arguments[i] = ARGV[at + 2 + i] end
              keys_done, at = keys_done + #keys, at + 3 + #arguments
              local reply = decide(keys, arguments)
              for key in pairs(written) do assert(expiries[key], 'written without an expiry: ' .. key) end
              add(#reply)
              for _, number in ipairs(reply) do add(number) end
              for _, key in ipairs(keys) do
                local text = texts[key] or ''
                add(tonumber(expiries[key] or -1))
                add(tonumber(string.match(text, '%+(%d+):') or 0))
                add(string.find(text, '[ *]') and 0 or 1)
              end
            end
            return replies
            """;

    private static final String LIBRARY = "fake_time";

    /** To assemble and to compile the text for each test would take longer than most tests. */
    private static final Map<RedisConnectionFactory, RateLimitScriptExecutor> LOADED = new ConcurrentHashMap<>();

    private final RateLimitScriptExecutor executor;

    private final TimeSource time;

    private final boolean collecting;

    private List<Call> calls = new ArrayList<>();

    public FakeTimeScriptExecutor(RedisConnectionFactory connections, TimeSource time) {
        this(connections, time, false, List.of());
    }

    private FakeTimeScriptExecutor(
            RedisConnectionFactory connections,
            TimeSource time,
            boolean collecting,
            List<RateLimitAlgorithm> algorithms) {
        this.executor = algorithms.isEmpty()
                ? LOADED.computeIfAbsent(connections, first -> bothWays(first, LIBRARY, algorithms))
                : bothWays(connections, LIBRARY + "_own", algorithms);
        this.time = time;
        this.collecting = collecting;
    }

    private static RateLimitScriptExecutor bothWays(
            RedisConnectionFactory connections, String library, List<RateLimitAlgorithm> algorithms) {
        return new BothWays(
                WrappedScript.executor(connections, BEFORE, AFTER, algorithms),
                connections,
                library,
                WrappedScript.library(library, BEFORE, AFTER, algorithms));
    }

    static FakeTimeScriptExecutor collecting(RedisConnectionFactory connections, TimeSource time) {
        return new FakeTimeScriptExecutor(connections, time, true, List.of());
    }

    static FakeTimeScriptExecutor with(
            List<RateLimitAlgorithm> algorithms, RedisConnectionFactory connections, TimeSource time) {
        return new FakeTimeScriptExecutor(connections, time, false, algorithms);
    }

    @Override
    public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
        Call call = new Call(time.micros(), keys, List.of(arguments), new CompletableFuture<>());
        if (collecting) {
            calls.add(call);
        } else {
            send(List.of(call));
        }
        return call.reply;
    }

    /** Sends the calls collected so far. Does not wait for the replies. */
    void flush() {
        List<Call> collected = calls;
        calls = new ArrayList<>();
        if (!collected.isEmpty()) {
            send(collected);
        }
    }

    private void send(List<Call> sent) {
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> arguments = new ArrayList<>();
        sent.forEach(call -> call.addTo(keys, arguments));
        executor.execute(keys, arguments.toArray(byte[][]::new)).whenComplete((replies, thrown) -> {
            Throwable failure = thrown;
            try {
                if (thrown == null) {
                    distribute(sent, replies);
                }
            } catch (RuntimeException ex) {
                failure = ex;
            }
            if (failure != null) {
                for (Call call : sent) {
                    call.reply.completeExceptionally(failure);
                }
            }
        });
    }

    private static void distribute(List<Call> sent, List<Long> replies) {
        int at = 0;
        for (Call call : sent) {
            int end = at + 1 + replies.get(at).intValue();
            int next = end + ADDED * call.keys.size();
            call.answer(List.copyOf(replies.subList(at + 1, end)), replies.subList(end, next));
            at = next;
        }
    }

    private record Call(long now, List<byte[]> keys, List<byte[]> arguments, CompletableFuture<List<Long>> reply) {

        void addTo(List<byte[]> allKeys, List<byte[]> allArguments) {
            allKeys.addAll(keys);
            for (long number : new long[] {now, keys.size(), arguments.size()}) {
                allArguments.add(Long.toString(number).getBytes(StandardCharsets.US_ASCII));
            }
            allArguments.addAll(arguments);
        }

        void answer(List<Long> numbers, List<Long> written) {
            try {
                check(numbers, written);
                reply.complete(numbers);
            } catch (AssertionError ex) {
                reply.completeExceptionally(ex);
            }
        }

        /** Of calls on the same bucket, the reply to the last that can write is compared with what was written. */
        private void check(List<Long> numbers, List<Long> written) {
            Map<String, Long> resets = new HashMap<>();
            char asked = 0;
            int from = 0;
            int key = -1;
            for (char code : text(arguments.get(0)).toCharArray()) {
                asked = code == FURTHER ? asked : code;
                key += code == AS_BEFORE ? 0 : 1;
                int count = numbers(asked);
                if (asked == RENEW) {
                    // The numbers of holders that were reset.
                    count += Math.max(0, numbers.get(from + ENDED).intValue());
                }
                if (count > 0 && asked != LOOK) {
                    resets.put(text(keys.get(key)), numbers.get(from + RESET));
                }
                from += count;
            }
            // A settlement replies only if it has found no bucket.
            assertThat(from).isEqualTo(asked == SETTLE ? 0 : numbers.size());
            for (int i = 0; i < keys.size(); i++) {
                Long resetMicros = resets.get(text(keys.get(i)));
                // Permits that calls hold expire when their instance is dead, which the reply does not say.
                boolean held = text(keys.get(i)).endsWith("%held");
                if (resetMicros != null && resetMicros >= 0 && !held) {
                    checkExpiry(resetMicros, written.subList(ADDED * i, ADDED * (i + 1)));
                }
            }
        }

        private static void checkExpiry(long resetMicros, List<Long> written) {
            long expiry = written.get(0);
            long offset = written.get(1);
            boolean plain = written.get(2) == 1;
            if (expiry >= 0 && plain) {
                assertThat(expiry).as("expiry").isBetween(resetMicros, resetMicros + 999);
            } else if (expiry >= 0) {
                assertThat(expiry).as("expiry").isGreaterThanOrEqualTo(resetMicros + offset);
            }
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.ISO_8859_1);
        }
    }
}
