package io.ratelimit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Calls that end together are settled together, by few scripts at a time. */
@Timeout(180)
class SettlementQueueTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final Duration FAR = Duration.ofMillis(20);

    private final RateLimit limit = RateLimit.named("tokens").rate("100/s").build();

    private final HandTurnedThread thread = new HandTurnedThread();

    /** The wall clock of this instance when the test began. */
    private long started = TestClock.TODAY;

    private final List<Sent> underWay = new ArrayList<>();

    private final List<Sent> probes = new ArrayList<>();

    private Runnable onSend = () -> {};

    private IntFunction<String> names = slot -> RedisTopology.REDIS;

    private int sent;

    private int mostUnderWay;

    private boolean clustered;

    private final GuardedRedis redis = new GuardedRedis(
            new RateLimitScriptExecutor() {
                @Override
                public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
                    Sent next = new Sent(keys, List.of(arguments), new CompletableFuture<>());
                    if (new String(keys.get(0), StandardCharsets.UTF_8).contains("probe")) {
                        probes.add(next);
                        return next.reply;
                    }
                    onSend.run();
                    underWay.add(next);
                    sent++;
                    mostUnderWay = Math.max(mostUnderWay, underWay.size());
                    return next.reply;
                }

                @Override
                public CompletionStage<?> delete(byte[] key) {
                    throw new UnsupportedOperationException();
                }

                @Override
                public RedisTopology topology() {
                    return new RedisTopology() {
                        @Override
                        public boolean isClustered() {
                            return clustered;
                        }

                        @Override
                        public String serverOf(int slot) {
                            return names.apply(slot);
                        }

                        @Override
                        public Map<String, String> hashTags() {
                            return Stream.of(0, 16_383)
                                    .collect(Collectors.toMap(names::apply, slot -> "%probe", (one, other) -> one));
                        }
                    };
                }
            },
            TIMEOUT,
            "test",
            true,
            thread,
            thread::nanos);

    private final SettlementQueue queue = new SettlementQueue(
            redis,
            new ScriptCodec(),
            (task, delay) -> thread.schedule(task, delay, TimeUnit.NANOSECONDS),
            () -> started + thread.nanos() / 1_000);

    /** A script without a reply. */
    private record Sent(List<byte[]> keys, List<byte[]> arguments, CompletableFuture<List<Long>> reply) {

        List<String> amounts() {
            return IntStream.range(0, keys.size())
                    .mapToObj(i -> new String(arguments.get(2 * i + 2), StandardCharsets.US_ASCII))
                    .toList();
        }
    }

    @AfterEach
    void stop() {
        redis.destroy();
    }

    private CompletableFuture<Void> charge(RateLimit limit, String key, long permits) {
        return queue.charge(new Charge(limit, key, permits), key.getBytes(StandardCharsets.UTF_8), true);
    }

    private List<CompletableFuture<Void>> charge(int calls) {
        return IntStream.rangeClosed(1, calls)
                .mapToObj(i -> charge(limit, "key" + i % 10, i))
                .toList();
    }

    private CompletableFuture<Void> refund(long permits, Charge... charges) {
        return queue.refund(
                List.of(charges),
                Collections.nCopies(charges.length, permits),
                Stream.of(charges)
                        .map(charge -> charge.key().getBytes(StandardCharsets.UTF_8))
                        .toList(),
                Collections.nCopies(charges.length, new Receipt(10, 1, 0, 1)));
    }

    private void reply(Long... numbers) {
        underWay.remove(0).reply.complete(List.of(numbers));
    }

    private void fail(Exception failure) {
        underWay.remove(0).reply.completeExceptionally(failure);
    }

    private void answerProbe() {
        probes.remove(0).reply.complete(List.of(1L, 1L, 0L, 0L));
    }

    private void failProbe() {
        probes.remove(0).reply.completeExceptionally(new TimeoutException());
    }

    /** Lets scripts settle what waits, and returns their amounts. */
    private List<String> settled() {
        List<String> amounts = new ArrayList<>();
        while (!underWay.isEmpty()) {
            amounts.addAll(underWay.get(0).amounts());
            reply();
        }
        return amounts;
    }

    private static Reason reasonOf(CompletableFuture<Void> settled) {
        assertThat(settled).isCompletedExceptionally();
        CompletionException failure = catchThrowableOfType(CompletionException.class, settled::join);
        return ((RateLimitStoreException) failure.getCause()).getReason();
    }

    /** A call that has failed waits for its refund. */
    @Test
    void replyThatCannotBeReadIsAFailureOfAll() {
        List<CompletableFuture<Void>> settled = charge(3);
        underWay.remove(0).reply.complete(null);
        assertThat(reasonOf(settled.get(0))).isEqualTo(Reason.ERROR);
        underWay.remove(0).reply.complete(null);
        assertThat(settled).allSatisfy(call -> assertThat(reasonOf(call)).isEqualTo(Reason.ERROR));
        charge(1);
        assertThat(underWay).hasSize(1);
    }

    @Test
    void settlementIsSentAtOnceAndOthersShareTheNextScript() {
        List<CompletableFuture<Void>> settled = charge(5);
        assertThat(underWay).hasSize(1);
        assertThat(underWay.get(0).amounts()).containsExactly("+1");
        reply();
        assertThat(settled.get(0)).isCompleted();
        assertThat(settled.get(1)).isNotDone();
        assertThat(underWay).hasSize(1);
        assertThat(underWay.get(0).amounts()).containsExactly("+2", "+3", "+4", "+5");
        reply();
        assertThat(settled).allMatch(CompletableFuture::isDone);
        assertThat(sent).isEqualTo(2);
    }

    @Test
    void refundsAndChargesShareAScript() {
        var unused = charge(1);
        Charge estimate = new Charge(limit, "alice", 10);
        CompletableFuture<Void> refund = refund(4, estimate);
        CompletableFuture<Void> more = charge(limit, "alice", 7);
        reply();
        assertThat(underWay.get(0).amounts()).containsExactly("4/10:10:1:0:1", "+7");
        reply();
        assertThat(List.of(refund, more)).allMatch(CompletableFuture::isDone);
    }

    @Test
    void refundsOfACallAreSentTogether() {
        CompletableFuture<Void> refund = refund(2, new Charge(limit, "alice", 10), new Charge(limit, "bob", 10));
        assertThat(underWay.get(0).amounts()).containsExactly("2/10:10:1:0:1", "2/10:10:1:0:1");
        reply();
        assertThat(refund).isCompleted();
    }

    /** The scripts of a round trip take Redis less than half of it. */
    @Test
    void thousandsNeedFewScriptsAndFewAtATime() {
        List<CompletableFuture<Void>> settled = charge(10_000);
        assertThat(mostUnderWay).isOne();
        int roundTrips = 0;
        while (!underWay.isEmpty()) {
            thread.pass(FAR);
            roundTrips++;
            for (int replies = underWay.size(); replies > 0; replies--) {
                reply();
            }
        }
        assertThat(settled).allMatch(CompletableFuture::isDone);
        assertThat(sent).isLessThanOrEqualTo(2 + 10_000 / QueuedSettlement.FULL);
        assertThat(mostUnderWay).isBetween(2, SettlementQueue.MOST_UNDER_WAY);
        assertThat(roundTrips).isLessThan(60);
    }

    @Test
    void oneScriptIsUnderWayToAServerNearby() {
        var unused = charge(1_000);
        while (!underWay.isEmpty()) {
            thread.pass(Duration.ofMillis(1));
            reply();
        }
        assertThat(mostUnderWay).isOne();
    }

    /** It replies to one script after the other, so that more under way would only wait longer, and calls behind them. */
    @Test
    void slowServerNearbyIsNotTakenForOneFarAway() {
        var unused = charge(5_000);
        while (!underWay.isEmpty()) {
            thread.pass(Duration.ofMillis(6));
            reply();
        }
        assertThat(mostUnderWay).isEqualTo(2);
    }

    @Test
    void whatIsTooMuchIsRefusedAtOnceAndLogged() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            List<CompletableFuture<Void>> settled = charge(SettlementQueue.MOST_WAITING + 3);
            assertThat(settled.subList(0, SettlementQueue.MOST_WAITING + 1)).noneMatch(CompletableFuture::isDone);
            settled.subList(SettlementQueue.MOST_WAITING + 1, settled.size())
                    .forEach(refused -> assertThat(reasonOf(refused)).isEqualTo(Reason.STALLED));
            assertThat(log.lines()).hasSize(1);
            thread.pass(Duration.ofMinutes(2));
            assertThat(charge(1).get(0)).isCompletedExceptionally();
            assertThat(log.lines()).hasSize(2);
            assertThat(log.lines().get(1)).contains("more than 50000 settlements wait", "3 so far");
        }
    }

    @Test
    void foreignValueConcernsItsOwnSettlement() {
        List<CompletableFuture<Void>> settled = charge(4);
        reply();
        reply(1L, -1L, -1L);
        assertThat(settled.get(1)).isCompleted();
        assertThat(reasonOf(settled.get(2))).isEqualTo(Reason.FOREIGN_VALUE);
        assertThat(settled.get(3)).isCompleted();
    }

    /** Of charges and of refunds. */
    @Test
    void settlementInAnUnknownCalendarWindowIsSentAgain() {
        RateLimit monthly = RateLimit.named("monthly")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("5/month")
                .build();
        Charge estimate = new Charge(monthly, "alice", 3);
        CompletableFuture<Void> refund = refund(3, estimate);
        reply(0L, -2L, TestClock.TODAY);
        assertThat(refund).isNotDone();
        assertThat(new String(underWay.get(0).arguments.get(1), StandardCharsets.US_ASCII))
                .contains("|");
        reply();
        assertThat(refund).isCompleted();
        CompletableFuture<Void> never = charge(monthly, "alice", 3);
        for (int i = 0; i < 4; i++) {
            reply(0L, -2L, TestClock.TODAY + i);
        }
        assertThat(never).isCompletedExceptionally();
        assertThat(underWay).isEmpty();
    }

    @Test
    void keysOfSeveralSlotsAreSentOneByOneIfTheServerInsists() {
        List<CompletableFuture<Void>> settled = charge(4);
        reply();
        fail(new IllegalStateException("CROSSSLOT Keys in request don't hash to the same slot"));
        assertThat(underWay).hasSize(3);
        for (int i = 0; i < 3; i++) {
            assertThat(underWay.get(0).keys).hasSize(1);
            reply();
        }
        assertThat(settled).allMatch(one -> one.isDone() && !one.isCompletedExceptionally());
    }

    /** Redis checks all keys of a script, so that one would keep the others from being settled for as long as it is forbidden. */
    @Test
    void keyThatRedisForbidsConcernsItsOwnSettlement() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        List<CompletableFuture<Void>> settled = IntStream.range(0, 10)
                .mapToObj(i -> charge(slow, i == 3 ? "forbidden" : "key" + i, i + 1))
                .collect(Collectors.toList());
        for (int i = 0; i < 30; i++) {
            while (!underWay.isEmpty()) {
                if (underWay.get(0).keys.stream().anyMatch(key -> "forbidden".equals(new String(key, UTF_8)))) {
                    fail(new IllegalStateException("NOPERM No permissions to access a key"));
                } else {
                    reply();
                }
            }
            while (!probes.isEmpty()) {
                answerProbe();
            }
            thread.pass(SettlementBacklog.PAUSE);
        }
        assertThat(reasonOf(settled.remove(3))).isEqualTo(Reason.FORBIDDEN);
        assertThat(settled).allMatch(done -> done.isDone() && !done.isCompletedExceptionally());
    }

    /** Others of the script may have been made before. */
    @Test
    void scriptWithACommandThatRedisForbidsIsNeverSentAgain() {
        List<CompletableFuture<Void>> settled = charge(4);
        reply();
        fail(new IllegalStateException(
                "ERR The user executing the script can't run this command or subcommand script: run,"
                        + " on @user_function:99."));
        thread.pass(SettlementBacklog.PAUSE.multipliedBy(3));
        assertThat(underWay).isEmpty();
        assertThat(probes).isEmpty();
        settled.subList(1, 4).forEach(failed -> assertThat(reasonOf(failed)).isEqualTo(Reason.FORBIDDEN));
    }

    @Test
    void scriptOfAClusterIsOfOneSlot() {
        clustered = true;
        List<CompletableFuture<Void>> settled = charge(1_000);
        while (!underWay.isEmpty()) {
            assertThat(underWay.get(0).keys.stream().map(ClusterSlot::of).distinct())
                    .hasSize(1);
            thread.pass(Duration.ofMillis(1));
            reply();
        }
        assertThat(settled).allMatch(CompletableFuture::isDone);
        assertThat(sent).isLessThan(40);
    }

    /** Whatever fails, no call is refused for it, and nothing waits for long. */
    @Test
    void failureEndsWhatHasWaitedForLongAndOpensNoCircuitBreaker() {
        List<CompletableFuture<Void>> settled = charge(200);
        fail(new TimeoutException());
        assertThat(reasonOf(settled.get(0))).isEqualTo(Reason.TIMEOUT);
        assertThat(settled.get(1)).isNotDone();
        answerProbe();
        assertThat(underWay.get(0).keys).hasSize(QueuedSettlement.FULL);
        thread.pass(TIMEOUT.multipliedBy(8));
        CompletableFuture<Void> young = charge(1).get(0);
        thread.pass(TIMEOUT.multipliedBy(2).plusSeconds(1));
        fail(new TimeoutException());
        settled.forEach(old -> assertThat(reasonOf(old)).isEqualTo(Reason.TIMEOUT));
        answerProbe();
        assertThat(underWay.get(0).keys).hasSize(1);
        reply();
        assertThat(young).isCompletedWithValue(null);
    }

    /** Redis may have run a script whose reply is lost, and the same charge again would count twice. */
    @Test
    void settlementWithoutAReplyIsNeverSentAgain() {
        List<CompletableFuture<Void>> settled = charge(200);
        List<String> amounts = new ArrayList<>();
        while (!underWay.isEmpty()) {
            amounts.addAll(underWay.get(0).amounts());
            fail(amounts.size() % 2 == 0 ? new TimeoutException() : new IllegalStateException("connection lost"));
            thread.pass(SettlementBacklog.PAUSE);
            while (!probes.isEmpty()) {
                answerProbe();
            }
        }
        assertThat(amounts).hasSize(200).doesNotHaveDuplicates();
        assertThat(settled).allMatch(CompletableFuture::isCompletedExceptionally);
    }

    /** No more than was under way. */
    @Test
    void serverThatHangsIsProbedAndSentNothingElse() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            RateLimit slow = RateLimit.named("slow").rate("100/d").build();
            List<CompletableFuture<Void>> settled = List.of(charge(slow, "alice", 1), charge(slow, "bob", 2));
            fail(new TimeoutException());
            assertThat(underWay).isEmpty();
            failProbe();
            settled.forEach(failed -> assertThat(reasonOf(failed)).isEqualTo(Reason.TIMEOUT));
            assertThat(reasonOf(charge(slow, "alice", 4))).isEqualTo(Reason.TIMEOUT);
            thread.pass(SettlementBacklog.PAUSE);
            failProbe();
            assertThat(underWay).isEmpty();
            assertThat(log.lines()).isEmpty();
            thread.pass(SettlementBacklog.PAUSE);
            answerProbe();
            reply();
            assertThat(log.lines()).singleElement().asString().contains("2 kept and sent again, 1 without a reply");
        }
    }

    /** Its numbers must not wait for the next failure, days later. */
    @Test
    void secondFailureOfAMinuteIsToldOfAtItsEnd() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis")) {
            for (int i = 0; i < 3; i++) {
                fail(charge(slow, "alice", 7));
                thread.pass(SettlementBacklog.PAUSE);
                answerProbe();
                assertThat(settled()).containsExactly("+7");
                assertThat(log.lines()).hasSize(1);
            }
            thread.pass(Duration.ofMinutes(1));
            assertThat(log.lines()).hasSize(2);
            assertThat(log.lines().get(1)).contains("2 kept and sent again, 0 without a reply");
            thread.pass(Duration.ofMinutes(5));
            assertThat(log.lines()).hasSize(2);
        }
    }

    @Test
    void whatRedisHasNotMadeIsMadeWhenItIsBack() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, "alice", 7));
        var unused = charge(slow, "alice", 30);
        unused = charge(slow, "bob", 5);
        unused = refund(2, new Charge(slow, "alice", 9));
        assertThat(underWay).isEmpty();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(settled()).containsExactlyInAnyOrder("2/9:10:1:0:1", "+37", "+5");
        assertThat(charge(slow, "alice", 1)).isNotDone();
        assertThat(settled()).containsExactly("+1");
        thread.pass(Duration.ofMinutes(1));
        assertThat(probes).isEmpty();
    }

    /** The first of a server that refuses it, whose probe fails, too. */
    private void fail(CompletableFuture<Void> first) {
        fail(new IllegalStateException("READONLY You can't write against a read only replica"));
        failProbe();
        assertThat(reasonOf(first)).isEqualTo(Reason.READ_ONLY);
    }

    /** It is not lost if it is then that Redis fails again. */
    @Test
    void whatIsMadeLaterMayFailAgain() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, "alice", 7));
        for (int i = 0; i < 3; i++) {
            thread.pass(SettlementBacklog.PAUSE);
            answerProbe();
            fail(new IllegalStateException("LOADING Redis is loading the dataset in memory"));
            failProbe();
        }
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(settled()).containsExactly("+7");
    }

    /** Else it would be sent, and refused, all the time. */
    @Test
    void settlementsThatAServerRefusesThoughItAnswersAreSentNowAndThen() {
        var unused = charge(limit, "alice", 100_000);
        int scripts = 0;
        for (int i = 0; i < 10; i++) {
            scripts += underWay.size();
            fail(new IllegalStateException("OOM command not allowed when used memory > 'maxmemory'"));
            answerProbe();
            assertThat(underWay).isEmpty();
            thread.pass(SettlementBacklog.PAUSE);
            answerProbe();
        }
        assertThat(scripts).isEqualTo(10);
    }

    /** A caller that is not charged more than without the failure: 100 permits a second have come back. */
    @Test
    void whatHasComeBackMeanwhileIsNotCharged() {
        fail(charge(limit, "alice", 150));
        thread.pass(Duration.ofMillis(250));
        var unused = charge(limit, "alice", 150);
        unused = charge(limit, "bob", 20);
        unused = refund(2, new Charge(limit, "bob", 9));
        thread.pass(Duration.ofMillis(1_250));
        failProbe();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        // 125, and then 150 more, which are 1.75 s old. The receipt tells Redis what is still out of the refunded
        // charge.
        assertThat(settled()).containsExactlyInAnyOrder("2/9:10:1:0:1", "+100");
    }

    /** In Berlin, it is half an hour to midnight. */
    private RateLimit dailyBeforeMidnight() {
        started = Instant.parse("2026-11-30T22:30:00Z").getEpochSecond() * 1_000_000;
        return TestLimits.calendarWindow("daily", "1000/day", "Europe/Berlin");
    }

    @Test
    void costThatIsKeptWithinItsCalendarWindowIsChargedInFull() {
        RateLimit daily = dailyBeforeMidnight();
        fail(charge(daily, "alice", 700));
        thread.pass(Duration.ofMinutes(29));
        var unused = charge(daily, "alice", 2);
        thread.pass(Duration.ofMinutes(1).minusSeconds(1));
        failProbe();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(settled()).containsExactly("+702");
    }

    @Test
    void costOfACalendarWindowThatHasEndedMeanwhileIsDropped() {
        RateLimit daily = dailyBeforeMidnight();
        fail(charge(daily, "alice", 700));
        var unused = charge(daily, "bob", 50);
        thread.pass(Duration.ofMinutes(30));
        unused = charge(daily, "bob", 7);
        failProbe();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(settled()).containsExactly("+7");
    }

    @Test
    void callerThatIsToldOfTheFailureMayChargeAgain() {
        fail(queue.charge(new Charge(limit, "alice", 7_000), "alice".getBytes(StandardCharsets.UTF_8), false));
        assertThat(queue.charge(new Charge(limit, "alice", 7_000), "alice".getBytes(StandardCharsets.UTF_8), false))
                .isCompletedExceptionally();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(underWay).isEmpty();
    }

    @Test
    void asManyBucketsAsMayWaitAreKept() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            fail(charge(slow, "first", 1));
            for (int i = 0; i < SettlementQueue.MOST_WAITING + 10; i++) {
                var unused = charge(slow, "caller-" + i, 1);
            }
            var unused = charge(slow, "caller-7", 2);
            assertThat(log.lines()).singleElement().asString().contains("more than 50000 settlements wait");
            List<String> amounts = new ArrayList<>();
            thread.pass(SettlementBacklog.PAUSE);
            while (!probes.isEmpty()) {
                answerProbe();
                assertThat(underWay).hasSize(1);
                amounts.addAll(settled());
                thread.pass(SettlementBacklog.PAUSE);
            }
            assertThat(amounts).hasSize(SettlementQueue.MOST_WAITING).containsOnlyOnce("+3");
        }
    }

    /** The name of a long one is short. */
    @Test
    void keysOfCallersAreNotKept() {
        Charge charge = new Charge(limit, "a".repeat(1_000_000), 7);
        assertThat(QueuedSettlement.charging(charge, "name".getBytes(UTF_8), 0, true)
                        .charge())
                .isEqualTo(new Charge(limit, null, 7));
    }

    @Test
    void serversOfAClusterFailEachForItself() {
        clustered = true;
        names = slot -> slot < 8192 ? "first" : "second";
        List<String> keys = IntStream.range(0, 40).mapToObj(i -> "{" + i + "}").toList();
        String ofFirst =
                keys.stream().filter(key -> slot(key) < 8192).findFirst().orElseThrow();
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, ofFirst, 7));
        for (String key : keys) {
            var unused = charge(slow, key, 1);
        }
        long ofSecond = keys.stream().filter(key -> slot(key) >= 8192).count();
        assertThat(settled()).hasSize((int) ofSecond).containsOnly("+1");
        // A replica has taken over.
        names = slot -> "third";
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(settled()).hasSize(40 - (int) ofSecond).containsOnlyOnce("+8");
    }

    private static int slot(String key) {
        return ClusterSlot.of(key.getBytes(StandardCharsets.UTF_8));
    }

    /** A probe that has no end must not keep settlements from being made. */
    @Test
    void lostProbeIsRepeated() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, "alice", 7));
        thread.forget();
        assertThat(queue.resumeBacklog()).isNull();
        thread.pass(Duration.ofSeconds(10));
        assertThat(queue.resumeBacklog()).contains("resumed");
        answerProbe();
        assertThat(settled()).containsExactly("+7");
    }

    /** Not by {@code java.util.logging}, which a JVM that is stopped ends before the application does. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void shutdownTellsWhatIsLost(CapturedOutput output) {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            fail(charge(slow, "alice", 7));
            queue.drain(Duration.ofSeconds(30));
            assertThat(output).containsOnlyOnce("while the application ends: 1 (");
            assertThat(log.lines()).isEmpty();
        }
    }

    /** It takes a while, because they are sent little by little. */
    @Test
    void shutdownWaitsForWhatWasKeptIfRedisIsBack() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, "first", 1));
        for (int i = 0; i < SettlementBacklog.AT_A_TIME; i++) {
            var unused = charge(slow, "caller-" + i, 1);
        }
        assertThat(queue.idle()).isDone();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        CompletableFuture<Void> idle = queue.idle();
        assertThat(settled()).hasSize(SettlementBacklog.AT_A_TIME);
        assertThat(idle).isNotDone();
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        assertThat(idle).isNotDone();
        assertThat(settled()).hasSize(1);
        assertThat(idle).isDone();
    }

    @Test
    void shutdownDoesNotWaitForARedisThatFailsAgain() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        fail(charge(slow, "alice", 7));
        thread.pass(SettlementBacklog.PAUSE);
        answerProbe();
        CompletableFuture<Void> idle = queue.idle();
        fail(new IllegalStateException("READONLY You can't write against a read only replica"));
        assertThat(idle).isNotDone();
        failProbe();
        assertThat(idle).isDone();
    }

    /** Which is not probed any more. */
    @Test
    void settlementsThatWaitForAProbeEndWithTheApplication() {
        RateLimit slow = RateLimit.named("slow").rate("100/d").build();
        var unused = charge(slow, "alice", 7);
        fail(new IllegalStateException("OOM command not allowed when used memory > 'maxmemory'"));
        answerProbe();
        unused = charge(slow, "bob", 1);
        CompletableFuture<Void> waiting = charge(slow, "carol", 1);
        fail(new TimeoutException());
        assertThat(waiting).isNotDone();
        redis.destroy();
        thread.pass(SettlementBacklog.PAUSE);
        assertThat(reasonOf(waiting)).isEqualTo(Reason.TIMEOUT);
        assertThat(charge(slow, "dave", 1)).isCompletedExceptionally();
        assertThat(probes).isEmpty();
    }

    @Test
    void shutdownWaitsForSettlementsThatAreSentAgain() {
        RateLimit monthly = RateLimit.named("monthly")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("5/month")
                .build();
        var unused = charge(monthly, "alice", 3);
        List<Boolean> idleWhenSent = new ArrayList<>();
        CompletableFuture<Void> idle = queue.idle();
        onSend = () -> idleWhenSent.add(idle.isDone());
        reply(0L, -2L, TestClock.TODAY);
        assertThat(idleWhenSent).containsExactly(false);
        assertThat(idle).isNotDone();
        reply();
        assertThat(idle).isDone();
    }

    @Test
    void threadThatDoesNotReturnFromTheDriverHoldsUpNothingForLong() {
        var unused = charge(1);
        thread.pass(TIMEOUT.multipliedBy(10).plusSeconds(1));
        CompletableFuture<Void> next = charge(1).get(0);
        underWay.remove(0);
        reply();
        assertThat(next).isCompleted();
    }

    @Test
    void shutdownWaitsForSettlements() throws Exception {
        queue.drain(Duration.ofNanos(1));
        List<CompletableFuture<Void>> settled = charge(3);
        CompletableFuture<Void> drained = CompletableFuture.runAsync(() -> queue.drain(Duration.ofSeconds(30)));
        CompletableFuture<Void> replied = CompletableFuture.runAsync(() -> {
            while (!underWay.isEmpty()) {
                reply();
            }
        });
        replied.join();
        drained.join();
        assertThat(settled).allMatch(CompletableFuture::isDone);
    }
}
