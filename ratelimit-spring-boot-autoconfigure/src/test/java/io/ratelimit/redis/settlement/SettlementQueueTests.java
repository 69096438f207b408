package io.ratelimit.redis.settlement;

import static io.ratelimit.redis.settlement.SettlementQueue.MOST_UNDER_WAY;
import static io.ratelimit.redis.settlement.SettlementQueue.MOST_WAITING;
import static io.ratelimit.redis.settlement.SettlingInstance.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.ClusterSlot;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.settlement.SettlingInstance.SettlementScript;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Calls that end together are settled together, by few scripts at a time. */
@Timeout(180)
class SettlementQueueTests {

    private static final Duration FAR = Duration.ofMillis(20);

    private final RateLimit limit = RateLimit.named("tokens").rate("100/s").build();

    private final List<SettlementScript> underWay = new ArrayList<>();

    private final List<String> lost = new ArrayList<>();

    private int sent;

    private int mostUnderWay;

    private volatile Runnable driver = () -> {};

    private final SettlingInstance instance = new SettlingInstance(this::send, MOST_WAITING);

    private final SettlementQueue queue = instance.queue;

    private final HandTurnedThread thread = instance.thread;

    private void send(SettlementScript next) {
        driver.run();
        underWay.add(next);
        sent++;
        mostUnderWay = Math.max(mostUnderWay, underWay.size());
    }

    @BeforeEach
    void listen() {
        queue.setLossListener(limit -> lost.add(limit.name()));
    }

    @AfterEach
    void stop() {
        instance.close();
    }

    private CompletableFuture<Void> charge(RateLimit limit, String key, long permits) {
        return instance.charge(new Charge(limit, key, permits));
    }

    private List<CompletableFuture<Void>> charge(int calls) {
        return IntStream.rangeClosed(1, calls)
                .mapToObj(i -> charge(limit, "key" + i % 10, i))
                .toList();
    }

    private CompletableFuture<Void> refund(long permits, Charge... charges) {
        return instance.refund(Collections.nCopies(charges.length, permits), charges);
    }

    private void reply(Long... numbers) {
        underWay.remove(0).reply().complete(List.of(numbers));
    }

    private void fail(Exception failure) {
        underWay.remove(0).reply().completeExceptionally(failure);
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
        underWay.remove(0).reply().complete(null);
        assertThat(reasonOf(settled.get(0))).isEqualTo(Reason.ERROR);
        underWay.remove(0).reply().complete(null);
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
        assertThat(mostUnderWay).isBetween(2, MOST_UNDER_WAY);
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
    void whatIsTooMuchIsLostAtOnce() {
        List<CompletableFuture<Void>> settled = charge(MOST_WAITING + 3);
        assertThat(settled.subList(0, MOST_WAITING + 1)).noneMatch(CompletableFuture::isDone);
        settled.subList(MOST_WAITING + 1, settled.size())
                .forEach(refused -> assertThat(reasonOf(refused)).isEqualTo(Reason.STALLED));
        assertThat(lost).containsExactly("tokens", "tokens");
        assertThat(refund(4, new Charge(limit, "alice", 10), new Charge(limit, "bob", 10)))
                .isCompletedExceptionally();
        assertThat(lost).hasSize(4);
    }

    @Test
    void lossesAreLoggedOnceAMinuteWithTheirNumbers() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            var unused = charge(limit, "alice", 7);
            unused = charge(limit, "bob", 30);
            unused = refund(4, new Charge(limit, "alice", 10));
            fail(new TimeoutException());
            fail(new IllegalStateException("OOM command not allowed when used memory > 'maxmemory'"));
            assertThat(log.lines()).isEmpty();
            thread.pass(Duration.ofSeconds(1));
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains("lost (Redis: OOM", "): 3; permits not charged: 37, not refunded: 4;");
            for (int i = 0; i < 3; i++) {
                unused = charge(limit, "alice", 5);
                fail(new TimeoutException());
                thread.pass(Duration.ofSeconds(10));
            }
            assertThat(log.lines()).hasSize(1);
            thread.pass(Duration.ofMinutes(1));
            assertThat(log.lines()).hasSize(2);
            assertThat(log.lines().get(1)).contains("): 3; permits not charged: 15, not refunded: 0;");
            thread.pass(Duration.ofMinutes(5));
            assertThat(log.lines()).hasSize(2);
        }
    }

    @Test
    void lossesAreLoggedAtOnceIfNoThreadIsAvailable() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            thread.shutdown();
            var unused = charge(limit, "alice", 7);
            fail(new TimeoutException());
            assertThat(log.lines()).hasSize(1);
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
        assertThat(new String(underWay.get(0).arguments().get(1), StandardCharsets.US_ASCII))
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
            assertThat(underWay.get(0).keys()).hasSize(1);
            reply();
        }
        assertThat(settled).allMatch(one -> one.isDone() && !one.isCompletedExceptionally());
    }

    /** Redis checks all keys of a script, so that one would keep the others from being settled for as long as it is forbidden. */
    @Test
    void keyThatRedisForbidsConcernsItsOwnSettlement() {
        List<CompletableFuture<Void>> settled = IntStream.range(0, 10)
                .mapToObj(i -> charge(limit, i == 3 ? "forbidden" : "key" + i, i + 1))
                .collect(Collectors.toList());
        while (!underWay.isEmpty()) {
            if (underWay.get(0).keys().stream().anyMatch(key -> "forbidden".equals(new String(key, UTF_8)))) {
                fail(new IllegalStateException("NOPERM No permissions to access a key"));
            } else {
                reply();
            }
        }
        assertThat(reasonOf(settled.remove(3))).isEqualTo(Reason.FORBIDDEN);
        assertThat(settled).allMatch(done -> done.isDone() && !done.isCompletedExceptionally());
        assertThat(lost).hasSize(1);
    }

    /** Others of the script may have been made before. */
    @Test
    void scriptWithACommandThatRedisForbidsIsNeverSentAgain() {
        List<CompletableFuture<Void>> settled = charge(4);
        reply();
        fail(new IllegalStateException(
                "ERR The user executing the script can't run this command or subcommand script: run,"
                        + " on @user_function:99."));
        assertThat(underWay).isEmpty();
        settled.subList(1, 4).forEach(failed -> assertThat(reasonOf(failed)).isEqualTo(Reason.FORBIDDEN));
    }

    @Test
    void scriptOfAClusterIsOfOneSlot() {
        instance.clustered = true;
        List<CompletableFuture<Void>> settled = charge(1_000);
        while (!underWay.isEmpty()) {
            assertThat(underWay.get(0).keys().stream().map(ClusterSlot::of).distinct())
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
        assertThat(underWay.get(0).keys()).hasSize(QueuedSettlement.FULL);
        thread.pass(TIMEOUT.multipliedBy(8));
        CompletableFuture<Void> young = charge(1).get(0);
        thread.pass(TIMEOUT.multipliedBy(2).plusSeconds(1));
        fail(new TimeoutException());
        settled.forEach(old -> assertThat(reasonOf(old)).isEqualTo(Reason.TIMEOUT));
        assertThat(underWay.get(0).keys()).hasSize(1);
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
        }
        assertThat(amounts).hasSize(200).doesNotHaveDuplicates();
        assertThat(settled).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(lost).hasSize(200);
    }

    /** The name of a long one is short. */
    @Test
    void keysOfCallersAreNotKept() {
        Charge charge = new Charge(limit, "a".repeat(1_000_000), 7);
        assertThat(new QueuedSettlement(charge, 7, "name".getBytes(UTF_8), "+7".getBytes(UTF_8), 0).charge())
                .isEqualTo(new Charge(limit, null, 7));
    }

    @Test
    void shutdownWaitsForSettlementsThatAreSentAgain() {
        RateLimit monthly = RateLimit.named("monthly")
                .algorithm(Algorithm.FIXED_WINDOW)
                .rate("5/month")
                .build();
        CompletableFuture<Void> settled = charge(monthly, "alice", 3);
        CompletableFuture<Void> drained = CompletableFuture.runAsync(() -> queue.drain(Duration.ofMinutes(2)));
        reply(0L, -2L, TestClock.TODAY);
        assertThat(drained).isNotDone();
        reply();
        drained.join();
        assertThat(settled).isCompleted();
        assertThat(lost).isEmpty();
    }

    /** Not by {@code java.util.logging}, which a JVM that is stopped ends before the application does. */
    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void shutdownCountsWhatIsNotSettledByThenAsLost(CapturedOutput output) {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            List<CompletableFuture<Void>> settled = charge(3);
            queue.drain(Duration.ofNanos(1));
            settled.forEach(late -> assertThat(reasonOf(late)).isEqualTo(Reason.CLOSED));
            assertThat(lost).hasSize(3);
            assertThat(output).containsOnlyOnce("the application ends): 3; permits not charged: 6, not refunded: 0;");
            reply();
            thread.pass(Duration.ofMinutes(2));
            assertThat(underWay).isEmpty();
            assertThat(lost).hasSize(3);
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void threadThatDoesNotReturnFromTheDriverHoldsUpNothingForLong() {
        CompletableFuture<Void> first = charge(1).get(0);
        thread.pass(TIMEOUT.multipliedBy(10));
        CompletableFuture<Void> next = charge(1).get(0);
        queue.endOverdue();
        assertThat(lost).isEmpty();
        thread.pass(Duration.ofSeconds(1));
        queue.endOverdue();
        assertThat(reasonOf(first)).isEqualTo(Reason.TIMEOUT);
        SettlementScript late = underWay.remove(0);
        reply();
        assertThat(next).isCompleted();
        late.reply().complete(List.of());
        assertThat(lost).hasSize(1);
    }

    @Test
    void watchdogEndsWhatTheDriverDoesNotThoughNothingMoreIsSent() throws Exception {
        SettlementQueue watched = new SettlementQueue(instance.redis, new ScriptCodec());
        AtomicInteger losses = new AtomicInteger();
        watched.setLossListener(limit -> losses.incrementAndGet());
        CountDownLatch inDriver = new CountDownLatch(1);
        CompletableFuture<Void> returns = new CompletableFuture<>();
        driver = () -> {
            inDriver.countDown();
            returns.join();
        };
        CompletableFuture<Void> stuck =
                CompletableFuture.runAsync(() -> watched.charge(new Charge(limit, "alice", 1), "alice".getBytes(UTF_8))
                        .join());
        assertThat(inDriver.await(1, TimeUnit.MINUTES)).isTrue();
        thread.pass(TIMEOUT.multipliedBy(10).plusSeconds(1));
        await().until(() -> losses.get() == 1);
        returns.complete(null);
        await().until(stuck::isDone);
        assertThat(reasonOf(stuck)).isEqualTo(Reason.TIMEOUT);
    }

    /** The reply says that Redis has made none of them. */
    @Test
    void settlementThatIsCountedAsLostIsNotSentAgain() {
        assertThatReplyComesTooLate(() -> queue.drain(Duration.ofNanos(1)));
        assertThatReplyComesTooLate(() -> {
            thread.pass(TIMEOUT.multipliedBy(10).plusSeconds(1));
            queue.endOverdue();
        });
    }

    private void assertThatReplyComesTooLate(Runnable end) {
        lost.clear();
        sent = 0;
        var unused = charge(3);
        reply();
        queue.setLossListener(limit -> {
            lost.add(limit.name());
            if (!underWay.isEmpty()) {
                fail(new IllegalStateException("NOPERM No permissions to access a key"));
            }
        });
        end.run();
        assertThat(sent).isEqualTo(2);
        assertThat(lost).hasSize(2);
    }

    @Test
    void failureOfTheListenerKeepsNoCallWaiting() {
        List<CompletableFuture<Void>> settled = charge(3);
        reply();
        queue.setLossListener(limit -> {
            throw new IllegalStateException("expected by the test");
        });
        fail(new TimeoutException());
        settled.subList(1, 3).forEach(late -> assertThat(reasonOf(late)).isEqualTo(Reason.TIMEOUT));
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
