package io.ratelimit.redis.script;

import static io.ratelimit.testing.LimitKind.SLIDING_WINDOW_LOG;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.WrappedScript;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.core.script.RedisScript;

/** How many commands a run of the script needs, and how many entries it reads, on a log that is as long as it may be. */
@LongRunning
class SlidingWindowLogWorkTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int LONGEST = 10_000;

    /** Counts into {@code work} what the script asks for and reads. */
    private static final String BEFORE = """
            local packed, work = struct, 0
            function on_command(call, ...)
              local reply = call(...)
              work = work + (call == server.call and type(reply) == 'table' and #reply or 1)
              return reply
            end
            local struct = {pack = packed.pack}
            function struct.unpack(...) work = work + 1 return packed.unpack(...) end
            """;

    /** Runs the script as often as is asked, a microsecond later each time. */
    private static final String AFTER = """
            local times, replies = tonumber(ARGV[#ARGV - 1])
            now = tonumber(ARGV[#ARGV])
            for _ = 1, times do
              work = 0
              replies = decide(KEYS, ARGV)
              now = now + 1
            end
            replies[#replies + 1] = work
            return replies
            """;

    private final RedisScript<List<Long>> script = WrappedScript.of(BEFORE, AFTER);

    private final ScriptCodec language = new ScriptCodec();

    private final RateLimit log = SLIDING_WINDOW_LOG.limit("log", LONGEST, LONGEST + "/h");

    private final String key = RedisUnderTest.newPrefix();

    private long now = TestClock.TODAY;

    @BeforeEach
    void fill() {
        List<Long> last = run(LONGEST, language.arguments(ScriptCall.CHARGE, List.of(new Charge(log, "key", 1))));
        now += LONGEST;
        assertThat(last.get(0)).isZero();
        assertThat(peek()).isZero();
    }

    @Test
    void rejectedCallIsToldWhenItsPermitsAreBack() {
        for (long permits : new long[] {1, 2, 100, LONGEST / 2, LONGEST - 1, LONGEST}) {
            List<Long> reply = run(1, language.arguments(ScriptCall.CHARGE, List.of(new Charge(log, "key", permits))));
            assertThat(reply.get(2)).isEqualTo(Duration.ofHours(1).toNanos() / 1_000 - LONGEST + permits - 1);
            assertThat(work(reply)).isLessThan(60);
        }
    }

    @Test
    void nearlyAllEntriesLeaveAtOnce() {
        now += Duration.ofHours(1).toNanos() / 1_000 - 2;
        List<Long> reply = run(1, language.arguments(ScriptCall.CHARGE, List.of(new Charge(log, "key", 1))));
        assertThat(reply.get(0)).isEqualTo(LONGEST - 2);
        assertThat(work(reply)).isLessThan(60);
        assertThat(redis.commands().opsForList().size(key)).isLessThan(4);
    }

    @Test
    void callsOfDifferentCostInOneRun() {
        List<byte[]> arguments = new ArrayList<>();
        arguments.add("1".repeat(128).getBytes(StandardCharsets.US_ASCII));
        String[] keys = new String[128];
        Arrays.fill(keys, key);
        for (int call = 0; call < 128; call++) {
            byte[][] one = language.arguments(ScriptCall.CHARGE, List.of(new Charge(log, "key", 1 + 70 * call)));
            arguments.add(one[1]);
            arguments.add(one[2]);
        }
        List<Long> reply = run(1, arguments.toArray(byte[][]::new), keys);
        assertThat(work(reply)).isLessThan(128 * 40);
    }

    @Test
    void oldestEntryIsRefunded() {
        Charge charge = new Charge(log, "key", 1);
        Receipt receipt = new Receipt(1, TestClock.TODAY, 0, 0);
        long work = work(run(1, language.refundArguments(List.of(charge), List.of(receipt))));
        assertThat(peek()).isEqualTo(1);
        assertThat(work).isLessThan(LONGEST / 4);
    }

    private long peek() {
        return run(1, language.arguments(ScriptCall.LOOK, List.of(new Charge(log, "key", 0))))
                .get(0);
    }

    private static long work(List<Long> reply) {
        return reply.get(reply.size() - 1);
    }

    private List<Long> run(int times, byte[][] arguments) {
        return run(times, arguments, key);
    }

    private List<Long> run(int times, byte[][] arguments, String... keys) {
        List<String> all = new ArrayList<>();
        for (byte[] argument : arguments) {
            all.add(new String(argument, StandardCharsets.US_ASCII));
        }
        all.add(Integer.toString(times));
        all.add(Long.toString(now));
        return redis.commands().execute(script, List.of(keys), all.toArray());
    }
}
