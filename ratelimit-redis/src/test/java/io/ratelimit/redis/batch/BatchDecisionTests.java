package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.BothWays;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.script.ScriptReply;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.RandomHistory;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that one run of the script decides are decided as if each had a run of its own at the same time. */
@BothTiers
class BatchDecisionTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private static final int HISTORIES = TestRandom.cases(60);

    private static final int RUNS = 30;

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private final RateLimitScriptExecutor executor = redis.executorAt(clock);

    private final ScriptCodec language = new ScriptCodec();

    private final BucketNaming together = new BucketNaming(RedisUnderTest.newPrefix());

    private final BucketNaming oneByOne = new BucketNaming(RedisUnderTest.newPrefix());

    /** A lease has one charge. */
    private record Call(ScriptCall call, List<Charge> charges, long more) {}

    private static PendingCall<?> pending(Call call, BucketNaming keys) {
        List<byte[]> names = call.charges().stream()
                .map(charge -> keys.name(charge.limit(), charge.key()))
                .toList();
        Deadline deadline = Deadlines.in(Duration.ofHours(1));
        return new PendingCall<>(call.call(), call.charges(), call.more(), names, deadline, false, List::get);
    }

    @Test
    void runOfSeveralCallsSaysAndLeavesWhatRunsOfOneCallDo() {
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "together" + i, clock);
            for (int run = 0; run < RUNS; run++) {
                List<Call> calls = history.nextAtOnce(1 + random.nextInt(8)).stream()
                        .map(this::call)
                        .toList();
                decideTogetherAndOneByOne(calls, history);
            }
        }
    }

    /** Plain charges of token buckets are decided by less of the script, until a call or a value is different. */
    @Test
    void runOfPlainCallsAndAnotherSaysAndLeavesWhatRunsOfOneCallDo() {
        for (int i = 0; i < HISTORIES; i++) {
            RandomHistory history = new RandomHistory(random, "plain" + i, clock);
            for (int run = 0; run < RUNS; run++) {
                Call other = call(history.next());
                List<Call> calls = new ArrayList<>();
                for (int j = random.nextInt(12); j >= 0; j--) {
                    calls.add(new Call(ScriptCall.CHARGE, List.of(plainCharge("plain" + i)), 0));
                }
                switch (random.nextInt(6)) {
                    case 0 -> calls.add(random.nextInt(calls.size()), other);
                    case 1 -> calls.add(random.nextInt(calls.size()), call(List.of(plainCharge("plain" + i))));
                    case 2 ->
                        calls.add(
                                random.nextInt(calls.size()),
                                call(List.of(plainCharge("plain" + i), plainCharge("plain" + i))));
                    default -> {}
                }
                decideTogetherAndOneByOne(calls, history);
            }
        }
    }

    /** The rule of a limit seldom changes. */
    private Charge plainCharge(String name) {
        String[] rates = {"10/s", "7/3s", "1000000/s"};
        int number = random.nextInt(rates.length);
        int capacity = random.nextInt(40) == 0 ? 20 : 10;
        RateLimit limit = TestLimits.tokenBucket(name + "-plain-" + number, capacity, rates[number]);
        return new Charge(limit, random.nextBoolean() ? "key" : null, random.nextInt(12) / 3);
    }

    private void decideTogetherAndOneByOne(List<Call> calls, RandomHistory history) {
        List<Charge> charges = charges(calls);
        if (history.chance(12)) {
            putForeignValue(charges.get(random.nextInt(charges.size())), random.nextInt(3));
            history.note("a foreign value");
        }
        List<Long> apart = new ArrayList<>();
        calls.forEach(call -> apart.addAll(run(oneByOne, List.of(call))));
        assertThat(run(together, calls)).as(() -> calls + " after\n" + history).isEqualTo(apart);
        for (Charge charge : charges) {
            assertThat(value(together, charge))
                    .as(() -> calls + " after\n" + history)
                    .isEqualTo(value(oneByOne, charge));
        }
        if (history.chance(4)) {
            charges.forEach(charge -> Stream.of(together, oneByOne).forEach(keys -> delete(keys, charge)));
            history.note("all deleted");
        }
    }

    private Call call(List<Charge> charges) {
        ScriptCall[] kinds = {
            ScriptCall.CHARGE, ScriptCall.CHARGE, ScriptCall.CHARGE_WITH_RECEIPTS, ScriptCall.LOOK, ScriptCall.LEASE
        };
        ScriptCall call = kinds[random.nextInt(kinds.length)];
        return call == ScriptCall.LEASE
                ? new Call(call, charges.subList(0, 1), random.nextLong(100))
                : new Call(call, charges, 0);
    }

    private static List<Charge> charges(List<Call> calls) {
        return calls.stream().flatMap(call -> call.charges().stream()).toList();
    }

    private List<Long> run(BucketNaming keys, List<Call> calls) {
        List<byte[]> names = new ArrayList<>();
        byte[][] arguments = language.arguments(
                calls.stream().<PendingCall<?>>map(call -> pending(call, keys)).toList(), names);
        return executor.execute(names, arguments).toCompletableFuture().join();
    }

    private void putForeignValue(Charge charge, int type) {
        for (BucketNaming keys : List.of(together, oneByOne)) {
            delete(keys, charge);
            String name = text(keys, charge);
            for (String key : List.of(name, BothWays.twin(name))) {
                switch (type) {
                    case 0 -> redis.commands().opsForValue().set(key, "not ours", Duration.ofMinutes(10));
                    case 1 -> redis.commands().opsForList().rightPush(key, "not ours");
                    default -> redis.commands().opsForHash().put(key, "not", "ours");
                }
                redis.commands().expire(key, Duration.ofMinutes(10));
            }
        }
    }

    private void delete(BucketNaming keys, Charge charge) {
        String name = text(keys, charge);
        redis.commands().delete(List.of(name, BothWays.twin(name)));
    }

    private static Object value(BucketNaming keys, Charge charge) {
        String key = text(keys, charge);
        Object value = value(key);
        if (BothWays.hasFunctions(redis.connections())) {
            assertThat(value(BothWays.twin(key))).as("value of the function").isEqualTo(value);
        }
        return value;
    }

    private static Object value(String key) {
        return switch (redis.commands().type(key)) {
            case STRING -> redis.commands().opsForValue().get(key);
            case LIST -> redis.commands().opsForList().range(key, 0, -1);
            default -> "";
        };
    }

    private static String text(BucketNaming keys, Charge charge) {
        return new String(keys.name(charge.limit(), charge.key()), StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @EnumSource
    void leaseIsDecidedAsTheCallWouldBeAndTakesHalfOfTheRestAtTheMost(LimitKind kind) {
        RateLimit limit = kind.limit("leased", 20, "10/h");
        Charge charge = new Charge(limit, "key", 3);
        for (long more : new long[] {0, 2, 1_000, 1_000}) {
            RateLimitDecision expected = decide(ScriptCall.LOOK, charge);
            ScriptReply lease = lease(charge, more);
            assertThat(lease.decisions().get(0).allowed()).isEqualTo(expected.allowed());
            assertThat(lease.decisions().get(0).delay()).isEqualTo(expected.delay());
            long left = expected.remaining() - 3;
            long half = kind.waits() || kind.spaces() ? 0 : Math.min(more, left / 2);
            assertThat(lease.more()).isEqualTo(half);
            assertThat(lease.decisions().get(0).remaining()).isEqualTo(left - half);
            RateLimitDecision now = decide(ScriptCall.LOOK, new Charge(limit, "key", 0));
            assertThat(now.remaining()).isEqualTo(left - half);
            assertThat(now.resetAfter()).isEqualTo(lease.decisions().get(0).resetAfter());
        }
        assertThat(lease(new Charge(limit, "key", 21), 5).more()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void leaseIsRefundedByItsReceipt(LimitKind kind) {
        RateLimit limit = kind.limit("refunded", 20, "10/h");
        ScriptReply lease = lease(new Charge(limit, "key", 3), 4);
        Charge all = new Charge(limit, "key", 3 + lease.more());
        byte[][] arguments =
                language.refundArguments(List.of(all), List.of(lease.receipts().get(0)));
        assertThat(execute(all, arguments)).isEmpty();
        assertThat(decide(ScriptCall.LOOK, all).remaining()).isEqualTo(20);
    }

    @Test
    void whereAValueIsNotOursOnlyTheCallThatNamesItFails() {
        Charge ours = new Charge(TestLimits.tokenBucket("ours", 10, "10/h"), "key", 1);
        Charge foreign = new Charge(TestLimits.tokenBucket("foreign", 10, "10/h"), "key", 1);
        for (int type = 0; type < 3; type++) {
            putForeignValue(foreign, type);
            List<Call> calls = Stream.of(List.of(ours), List.of(ours, foreign), List.of(foreign), List.of(ours))
                    .map(charges -> new Call(ScriptCall.CHARGE, charges, 0))
                    .toList();
            List<Long> reply = run(together, calls);
            int numbers = ScriptCall.CHARGE.numbers();
            assertThat(ScriptReply.decisions(ScriptCall.CHARGE, List.of(ours), reply, 0))
                    .allMatch(RateLimitDecision::allowed);
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> ScriptReply.decisions(ScriptCall.CHARGE, List.of(ours, foreign), reply, numbers))
                    .satisfies(ex -> assertThat(ex.getReason()).isEqualTo(Reason.FOREIGN_VALUE));
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> ScriptReply.decisions(ScriptCall.CHARGE, List.of(foreign), reply, 3 * numbers));
            assertThat(ScriptReply.decisions(ScriptCall.CHARGE, List.of(ours), reply, 4 * numbers))
                    .extracting(RateLimitDecision::remaining)
                    .containsExactly(8 - 2L * type);
        }
    }

    private ScriptReply lease(Charge charge, long more) {
        Call call = new Call(ScriptCall.LEASE, List.of(charge), more);
        return ScriptReply.of(ScriptCall.LEASE, List.of(charge), run(together, List.of(call)), 0);
    }

    private RateLimitDecision decide(ScriptCall call, Charge charge) {
        List<Charge> charges = List.of(charge);
        return ScriptReply.decisions(call, charges, execute(charge, language.arguments(call, charges)), 0)
                .get(0);
    }

    private List<Long> execute(Charge charge, byte[][] arguments) {
        return executor.execute(List.of(together.name(charge.limit(), charge.key())), arguments)
                .toCompletableFuture()
                .join();
    }
}
