package io.ratelimit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Script and function decide alike with {@code fast_path.lua} and without: random requests are run by all, on keys of their own,
 * and replies, values and expiries compared.
 */
@BothTiers
class FastPathTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int HISTORIES = TestRandom.cases(3_000);

    private static final int RUNS = 25;

    /** Keeps keys for ten minutes, whatever expiry the script sets: real time has no part in it. */
    private static final String BEFORE = """
            local expiries = {}
            function on_command(call, command, key, ...)
              local arguments = {...}
              if command == 'SET' and arguments[3] then expiries[key], arguments[3] = arguments[3], 600000 end
              if command == 'PEXPIRE' then expiries[key], arguments[1] = arguments[1], 600000 end
              return call(command, key, unpack(arguments))
            end
            """;

    /** The last argument is the time. Replies the expiries that the script has set and the values, too. */
    private static final String AFTER = """
            now, expiries = tonumber(ARGV[#ARGV]), {}
            local replies = {unpack(decide(KEYS, ARGV))}
            for _, key in ipairs(KEYS) do replies[#replies + 1] = expiries[key] or -1 end
            for _, key in ipairs(KEYS) do
              local type = server.call('TYPE', key).ok
              if type == 'list' then
                replies[#replies + 1] = server.call('LINDEX', key, 0)
              else
                replies[#replies + 1] = type == 'string' and server.call('GET', key) or type
              end
            end
            return replies
            """;

    private static final List<String> FAST = List.of(
            "T5@1/100ms",
            "T20@10/s",
            "T3@7/10us",
            "T1000@3/7ms",
            "T1@1/d",
            "T1000000000@10000/ms",
            "T5@1/100ms~",
            "T20@7/3ms~",
            "F5/s",
            "F20/7ms",
            "S10/s",
            "S7/3ms",
            "S100000000/m");

    /** Of the limits above, in microseconds. */
    private static final List<Long> WINDOWS = List.of(3_000L, 7_000L, 1_000_000L);

    private static final List<String> OTHERS = List.of(
            "T5@1/100ms>250000~", "T5@1/100ms>250000", "T20@10/s?", "I6@2/s", "F5/s#1000000", "S1000000000/d", "L4/3s");

    private final Random random = TestRandom.create(getClass());

    private final RedisScript<List<Long>> withFastPath = WrappedScript.of(BEFORE, AFTER);

    private final RedisScript<List<Long>> without = WrappedScript.of(RateLimitScript.PARTS, BEFORE, AFTER);

    private final String function = WrappedScript.library("fast_path_test", BEFORE, AFTER);

    private boolean hasFunctions;

    private long now = TestClock.TODAY;

    /** What a run of the script gets: codes, and keys and arguments for those that have their own. */
    private static final class Request {

        private final StringBuilder codes = new StringBuilder();

        private final List<String> keys = new ArrayList<>();

        private final List<String> arguments = new ArrayList<>();

        void add(char code) {
            codes.append(code);
        }

        void add(char code, String key, String limit, String permits) {
            add(code);
            keys.add(key);
            arguments.addAll(List.of(limit, permits));
        }

        Request refund(List<Long> replies) {
            Request refund = new Request();
            String receipt = replies.subList(4, 8).stream().map(String::valueOf).collect(Collectors.joining(":"));
            refund.add('3', keys.get(0), arguments.get(0), arguments.get(1) + ":" + receipt);
            return refund;
        }

        Object[] arguments(long now) {
            List<String> all = new ArrayList<>(List.of(codes.toString()));
            all.addAll(arguments);
            all.add(String.valueOf(now));
            return all.toArray();
        }

        @Override
        public String toString() {
            return codes + " " + keys + " " + arguments;
        }
    }

    @BeforeEach
    void load() {
        hasFunctions = BothWays.hasFunctions(redis.connections());
        if (hasFunctions) {
            lettuce().functionLoad(function, true).toCompletableFuture().join();
        }
    }

    @Test
    void everyRequestIsDecidedAlike() {
        for (int history = 0; history < HISTORIES; history++) {
            String fast = RedisUnderTest.newPrefix();
            String general = RedisUnderTest.newPrefix();
            String byFunction = RedisUnderTest.newPrefix();
            List<String> limits = limits();
            List<Request> receipts = new ArrayList<>();
            List<String> log = new ArrayList<>();
            for (int run = 0; run < RUNS; run++) {
                passTime();
                boolean refund = !receipts.isEmpty() && random.nextInt(4) == 0;
                boolean refundable = !refund && random.nextInt(4) == 0;
                Request request = refund
                        ? receipts.remove(random.nextInt(receipts.size()))
                        : refundable ? refundable(limits) : request(limits);
                log.add(now + " " + request);
                List<Long> replies = run(withFastPath, fast, request);
                assertThat(replies).as("%s", log).isEqualTo(run(without, general, request));
                if (hasFunctions) {
                    assertThat(call(byFunction, request))
                            .as("function: %s", log)
                            .isEqualTo(replies);
                }
                if (refundable && replies.get(2) == 0) {
                    receipts.add(request.refund(replies));
                }
            }
        }
    }

    private List<String> limits() {
        List<String> limits = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            limits.add(pick(random.nextInt(4) == 0 ? OTHERS : FAST));
        }
        return limits;
    }

    /** At times the clock goes back, or on to the next window. */
    private void passTime() {
        long micros = random.nextBoolean() ? random.nextLong(3) : TestRandom.logarithmic(random, 1, 10_000_000);
        if (random.nextInt(3) == 0) {
            micros = (long) (random.nextDouble(2) * pick(WINDOWS));
        }
        now += random.nextInt(20) == 0 ? -micros : micros;
    }

    private Request request(List<String> limits) {
        Request request = new Request();
        char before = 0;
        for (int call = 1 + random.nextInt(6); call > 0; call--) {
            if (before == '1' && random.nextInt(3) == 0) {
                if (random.nextBoolean()) {
                    request.add('=');
                } else {
                    request.add(',');
                    request.keys.add(key());
                }
                continue;
            }
            before = code();
            String limit = pick(limits);
            String permits = String.valueOf(random.nextInt(random.nextInt(5) == 0 ? 30 : 4));
            request.add(before, key(), limit, before == '4' ? permits + '+' + random.nextInt(6) : permits);
            while (before != '4' && random.nextInt(4) == 0) {
                request.add(
                        '+', random.nextInt(3) == 0 ? key() : "other", pick(limits), String.valueOf(random.nextInt(3)));
                before = '+';
            }
        }
        return request;
    }

    private Request refundable(List<String> limits) {
        Request request = new Request();
        request.add('2', key(), pick(limits), String.valueOf(1 + random.nextInt(2)));
        return request;
    }

    private char code() {
        return random.nextInt(10) > 0 ? (random.nextInt(4) == 0 ? '4' : '1') : (random.nextBoolean() ? '0' : '2');
    }

    private String key() {
        return "k" + random.nextInt(3);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    private List<Long> run(RedisScript<List<Long>> script, String prefix, Request request) {
        List<String> keys = request.keys.stream().map(key -> prefix + key).toList();
        return redis.commands().execute(script, keys, request.arguments(now));
    }

    private List<?> call(String prefix, Request request) {
        byte[][] keys = bytes(request.keys.stream().map(key -> prefix + key));
        byte[][] arguments = bytes(Stream.of(request.arguments(now)));
        List<?> reply = lettuce()
                .<List<?>>fcall("fast_path_test", ScriptOutputType.MULTI, keys, arguments)
                .toCompletableFuture()
                .join();
        return reply.stream()
                .map(one -> one instanceof byte[] text ? new String(text, UTF_8) : one)
                .toList();
    }

    private static byte[][] bytes(Stream<?> texts) {
        return texts.map(text -> text.toString().getBytes(UTF_8)).toArray(byte[][]::new);
    }

    private static RedisClusterAsyncCommands<byte[], byte[]> lettuce() {
        return BothWays.lettuce(redis.connections());
    }
}
