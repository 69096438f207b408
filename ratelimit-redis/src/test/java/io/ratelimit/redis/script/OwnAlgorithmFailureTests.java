package io.ratelimit.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.internal.store.AlgorithmFailureException;
import io.ratelimit.internal.store.failover.FailoverRateLimitStore;
import io.ratelimit.redis.BothWays;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisClusterUnderTest;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.OwnAlgorithms.Batches;
import io.ratelimit.testing.OwnAlgorithms.Tolerant;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.script.RedisScript;

/** A mistake in the Lua part of an algorithm fails the calls that need the part, changes nothing, and affects no other call. */
@LongRunning
class OwnAlgorithmFailureTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @RegisterExtension
    static final RedisClusterUnderTest cluster = new RedisClusterUnderTest();

    private static final String SOUND = "return {recover = function(_, used, since, rest) return used, since, rest end,"
            + " time_until = function() return 1000000 end, ";

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimit bucket = TestLimits.tokenBucket("bucket", 10, "10/d");

    private final RateLimit sound = limit("sound", new Batches());

    private static RateLimit limit(String name, RateLimitAlgorithm algorithm) {
        return RateLimit.named(name)
                .algorithm(algorithm)
                .capacity(10)
                .rate("10/d")
                .build();
    }

    /** Right in Java, and wrong in Lua. */
    private static RateLimitAlgorithm broken(String source) {
        return new Batches() {

            @Override
            public String name() {
                return "broken";
            }

            @Override
            public String luaPart() {
                return source;
            }
        };
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                        Arguments.of("return {\n  recover = +\n}", "broken:2: unexpected symbol near '+'"),
                        Arguments.of("return 1", "the part must return a table of functions (was number)"),
                        Arguments.of("error('no')", "broken:1: no"),
                        Arguments.of(
                                SOUND + "timeUntil = 1}",
                                "the part must not define timeUntil, which is no function of an algorithm"),
                        Arguments.of(SOUND + "take = 1}", "take must be a function (was number)"),
                        Arguments.of("return {recover = function() end}", "the part must define time_until"),
                        Arguments.of("\ncount = 1 " + SOUND + "}", "broken:2: "),
                        Arguments.of(SOUND + "take = function() count = 1 end}", "take: broken:1: "),
                        Arguments.of(SOUND + "take = function() return count end}", "take: broken:1: "),
                        Arguments.of(SOUND + "take = function() redis.call('GET', 'x') end}", "'redis' (a nil value)"),
                        Arguments.of(
                                SOUND + "take = function(rule) rule.capacity = 99 end}",
                                "the rule must not be changed"),
                        Arguments.of(
                                SOUND + "take = function(_, used, since) return used + 0.5, since, 0 end}",
                                "(was 0.5,"),
                        Arguments.of(SOUND + "take = function(_, used, since) return 0/0, since, 0 end}", "(was -nan,"),
                        Arguments.of(SOUND + "take = function(_, used, since) return 1, since, -1 end}", ", -1)"),
                        Arguments.of(
                                SOUND + "take = function(_, used, since) return 1, since, 2^53 end}",
                                ", 9007199254740992)"),
                        Arguments.of(SOUND + "take = function(_, used, since) return 1, since end}", ", nil)"),
                        Arguments.of(
                                SOUND + "take = function(_, used, since) return 1, since + 1, 0 end}",
                                "not later than now"),
                        Arguments.of(
                                SOUND + "take = function(_, used, since) return 0, since, 0 end}",
                                "used of at least 1"),
                        Arguments.of(
                                SOUND + "take = function(_, used, since) return 2^52, since, 0 end}",
                                "used of at most 521"),
                        Arguments.of(
                                SOUND + "reset_after = function() return 0 end}",
                                "reset_after: must return a whole number from 1"),
                        Arguments.of(
                                SOUND + "used = function() return -1 end}", "used: must return a whole number from 0"),
                        Arguments.of(
                                SOUND + "used = function() local function f() return 1 + f() end return f() end}",
                                "stack overflow"),
                        Arguments.of(SOUND + "take = function() error({1}) end}", "take: table"),
                        Arguments.of(
                                "return {recover = function() end, time_until = function() return 0.5 end}",
                                "time_until: must return a whole number from 1, below 2^53 (was 0.5)"))
                .flatMap(mistake -> Stream.of(true, false)
                        .map(functions -> Arguments.of(mistake.get()[0], mistake.get()[1], functions)));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void mistakeFailsTheCallsOfItsLimitAlone(String source, String message, boolean functions) throws Exception {
        RateLimitAlgorithm broken = broken(source.replace("-nan", "nan"));
        try (Connected connected = connect(List.of(new Batches(), broken), functions)) {
            RateLimit failing = limit("failing", broken);
            Charge failed = new Charge(failing, "key", 1);
            assertThatExceptionOfType(AlgorithmFailureException.class)
                    .isThrownBy(() -> connected.store.decide(failed).await())
                    .satisfies(ex -> assertThat(ex.getReason()).isEqualTo(Reason.ALGORITHM))
                    .satisfies(ex -> assertThat(ex.algorithm()).isEqualTo("broken"))
                    .withMessageContaining("Redis: Algorithm 'broken': ")
                    .withMessageMatching("(?s).*(" + Pattern.quote(message).replace("-nan", "\\E-?nan\\Q") + ").*");
            assertThatExceptionOfType(RateLimitStoreException.class)
                    .isThrownBy(() -> connected
                            .store
                            .decide(StoreRequest.of(List.of(new Charge(bucket, "key", 3), failed)))
                            .await());
            // In one script.
            List<Long> reply = connected
                    .connector
                    .execute(keys(bucket, failing, sound, failing, bucket), arguments(failing))
                    .toCompletableFuture()
                    .get();
            assertThat(reply.get(0)).isEqualTo(9);
            assertThat(reply.get(4)).isEqualTo(-3);
            assertThat(reply.get(8)).isEqualTo(8);
            assertThat(reply.get(12)).isEqualTo(-3);
            assertThat(reply.get(16)).isEqualTo(8);
            assertThat(redis.commands().hasKey(name(failing))).isFalse();
            assertThat(connected
                            .store
                            .decide(StoreRequest.peek(new Charge(bucket, "key", 1)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(8);
            assertThat(connected
                            .store
                            .decide(StoreRequest.peek(new Charge(sound, "key", 1)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(8);
        }
    }

    private List<byte[]> keys(RateLimit... limits) {
        return Stream.of(limits)
                .map(limit -> name(limit).getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    private String name(RateLimit limit) {
        return new String(new BucketNaming(prefix).name(limit, "key"), StandardCharsets.UTF_8);
    }

    private byte[][] arguments(RateLimit failing) {
        return Stream.of(
                        "11111",
                        RuleCodec.of(bucket),
                        "1",
                        RuleCodec.of(failing),
                        "1",
                        RuleCodec.of(sound),
                        "2",
                        RuleCodec.of(failing),
                        "1",
                        RuleCodec.of(bucket),
                        "1")
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** Redis before 6.2.7 would keep these changes for all scripts. */
    @ParameterizedTest
    @CsvSource({
        "math.min = nil, math must not be changed",
        "string.format = nil, string must not be changed",
        "table.insert = nil, table must not be changed",
        "bit.band = nil, bit must not be changed",
        "unpack = nil, a global must not be created or changed",
        "math = nil, a global must not be created or changed",
        "count = 1, a global must not be created or changed"
    })
    void partCannotChangeWhatOtherScriptsUse(String change, String message) throws Exception {
        List<String> sources =
                List.of(change + " " + SOUND + "}", SOUND + "take = function() " + change + " return 1, 0, 0 end}");
        String expected = hasEnvironments() ? message : "readonly table";
        for (String source : sources) {
            for (boolean functions : List.of(true, false)) {
                try (Connected connected = connect(List.of(broken(source)), functions)) {
                    Charge failed = new Charge(limit("failing", broken(source)), "key", 1);
                    assertThatExceptionOfType(AlgorithmFailureException.class)
                            .isThrownBy(() -> connected.store.decide(failed).await())
                            .withMessageContaining(expected);
                }
            }
        }
    }

    /** Without them, Redis itself keeps scripts from changing globals. */
    private static boolean hasEnvironments() {
        return Boolean.TRUE.equals(redis.commands()
                .execute(RedisScript.of("return pcall(function() return setfenv end)", Boolean.class), List.of()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureLeavesWhatCallsBeforeHaveTaken(boolean functions) throws Exception {
        RateLimitAlgorithm broken = broken(SOUND + "take = function(_, used, since, rest, _, n)"
                + " if n == 5 then return 0.5 end return used + n, since, rest end}");
        try (Connected connected = connect(List.of(broken), functions)) {
            RateLimit failing = limit("failing", broken);
            connected.store.decide(new Charge(failing, "key", 2)).await();
            List<CompletableFuture<StoreOutcome>> calls = Stream.of(1, 5, 1, 5, 1)
                    .map(permits -> connected
                            .store
                            .decide(StoreRequest.of(List.of(new Charge(failing, "key", permits))))
                            .toStage()
                            .toCompletableFuture())
                    .toList();
            List<Long> remaining = new ArrayList<>();
            for (CompletableFuture<StoreOutcome> call : calls) {
                remaining.add(call.handle((outcome, thrown) ->
                                thrown == null ? outcome.decision().remaining() : -1L)
                        .get());
            }
            assertThat(remaining).containsExactly(7L, -1L, 6L, -1L, 5L);
        }
    }

    /** Of one bucket and of others, charges and refunds. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failureOfASettlementLeavesTheOthersOfTheRun(boolean functions) throws Exception {
        RateLimitAlgorithm broken = broken(SOUND + "refund = function() error('no refund') end,"
                + " take = function(_, used, since, rest, _, n)"
                + " if n == 5 then return 0.5 end return used + n, since, rest end}");
        try (Connected connected = connect(List.of(new Batches(), broken), functions)) {
            RateLimit failing = limit("failing", broken);
            RateLimit unknown = limit("unknown", new Tolerant());
            List<RateLimit> limits = List.of(failing, failing, failing, unknown, bucket, failing, sound, failing);
            List<String> amounts = List.of("+1", "+5", "+2", "+1", "+3", "1:1:1:0:0", "+4", "+1");
            List<Charge> charges =
                    limits.stream().map(limit -> new Charge(limit, "key", 1)).toList();
            ScriptCodec codec = new ScriptCodec();
            List<Long> reply = connected
                    .connector
                    .execute(
                            keys(limits.toArray(RateLimit[]::new)),
                            codec.settleArguments(
                                    charges,
                                    amounts.stream()
                                            .map(amount -> amount.getBytes(StandardCharsets.US_ASCII))
                                            .toList()))
                    .toCompletableFuture()
                    .get();
            Map<Integer, Throwable> failures = ScriptReply.settlementFailures(reply);
            assertThat(failures).containsOnlyKeys(1, 3, 5);
            assertThat(failures.get(1))
                    .hasMessageContaining("Algorithm 'broken': take: must return three whole numbers");
            assertThat(failures.get(3)).hasMessageContaining("there is no part for Xtolerant");
            assertThat(failures.get(5)).hasMessageContaining("Algorithm 'broken': refund: broken:1: no refund");
            assertThat(failures.values())
                    .allSatisfy(failure -> assertThat(((RateLimitStoreException) failure).getReason())
                            .isEqualTo(Reason.ALGORITHM));
            assertThat(Stream.of(failing, bucket, sound)
                            .map(limit -> connected
                                    .store
                                    .decide(StoreRequest.peek(new Charge(limit, "key", 1)))
                                    .await()
                                    .decision()
                                    .remaining()))
                    .containsExactly(6L, 7L, 6L);
            assertThat(redis.commands().hasKey(name(unknown))).isFalse();
        }
    }

    @Test
    void failuresAreNotThoseOfTheServer() throws Exception {
        RateLimitAlgorithm broken = broken("return 1");
        try (Connected connected = connect(List.of(broken), true)) {
            RateLimit failing = limit("failing", broken);
            FailoverRateLimitStore store = new FailoverRateLimitStore(
                    connected.store, new InMemoryRateLimitStore(TimeSource.monotonic(), 100));
            List<Boolean> allowed = IntStream.range(0, 100)
                    .mapToObj(i -> store.decide(new Charge(failing, "key", 1))
                            .await()
                            .decision()
                            .allowed())
                    .toList();
            // By memory.
            assertThat(allowed.subList(0, 10)).containsOnly(true);
            assertThat(allowed.subList(10, 100)).containsOnly(false);
            assertThat(store.isAvailable()).isTrue();
            assertThat(store.failures())
                    .singleElement()
                    .satisfies(failure -> assertThat(failure.reason()).isEqualTo(Reason.ALGORITHM));
            assertThat(store.decide(new Charge(bucket, "key", 1))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(9);
        }
    }

    /** A limit goes back to an algorithm of the starter in a version of the application that has no other. */
    @Test
    void whatAnUnknownAlgorithmHasCountedStays() throws Exception {
        try (Connected with = connect(List.of(new Batches()), true);
                Connected without = connect(List.of(), true)) {
            RateLimit before = limit("changed", new Batches());
            RateLimit after = TestLimits.tokenBucket("changed", 10, "10/d");
            with.store.decide(new Charge(before, "key", 4)).await();
            assertThat(without.store
                            .decide(new Charge(after, "key", 1))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(5);
            assertThat(with.store
                            .decide(new Charge(before, "key", 1))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(4);
            assertThat(without.store
                            .decide(new Charge(after, "key", 1))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(3);
            assertThatExceptionOfType(AlgorithmFailureException.class)
                    .isThrownBy(() ->
                            without.store.decide(new Charge(before, "key", 1)).await())
                    .satisfies(ex -> assertThat(ex.algorithm()).isEqualTo("batches"))
                    .withMessageStartingWith("Redis: Algorithm 'batches': there is no part for Xbatches_10@");
        }
    }

    @Test
    void clusterDecidesByIt() throws Exception {
        List<RateLimitAlgorithm> algorithms = List.of(new Tolerant());
        RedisConnector connector = new RedisConnector(
                cluster.connections(),
                Duration.ofSeconds(10),
                RateLimitScript.load(algorithms),
                RateLimitLibrary.load(algorithms));
        connector.connect();
        RateLimitStore store = TestStores.over(connector, prefix);
        RateLimit tolerant = limit("tolerant", new Tolerant());
        for (int i = 0; i < 20; i++) {
            List<Charge> charges = List.of(new Charge(tolerant, "key" + i, 3), new Charge(bucket, "other" + i, 4));
            assertThat(store.decide(StoreRequest.of(charges)).await().decisions())
                    .extracting(RateLimitDecision::remaining)
                    .containsExactly(7L, 6L);
            store.decide(StoreRequest.of(charges)).await();
            assertThat(store.decide(StoreRequest.of(charges)).await().decisions())
                    .extracting(RateLimitDecision::remaining)
                    .containsExactly(4L, 2L);
        }
        connector.destroy();
    }

    private Connected connect(List<RateLimitAlgorithm> algorithms, boolean functions) {
        RedisConnector connector = new RedisConnector(
                redis.connections(),
                Duration.ofSeconds(10),
                RateLimitScript.load(algorithms),
                functions ? RateLimitLibrary.load(algorithms) : null);
        connector.connect();
        return new Connected(
                connector,
                TestStores.over(connector, prefix),
                functions ? RateLimitLibrary.load(algorithms).name() : "");
    }

    private record Connected(RedisConnector connector, RateLimitStore store, String library) implements AutoCloseable {

        @Override
        public void close() {
            connector.destroy();
            if (!library.isEmpty() && BothWays.hasFunctions(redis.connections())) {
                redis.commands().execute((RedisCallback<Object>) connection -> connection.execute(
                        "FUNCTION",
                        "DELETE".getBytes(StandardCharsets.UTF_8),
                        library.getBytes(StandardCharsets.UTF_8)));
            }
        }
    }
}
