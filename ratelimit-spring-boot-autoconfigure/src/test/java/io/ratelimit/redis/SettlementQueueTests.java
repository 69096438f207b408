package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.TestClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that end together are settled together, by few scripts at a time. */
@Timeout(60)
class SettlementQueueTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private static final Duration FAR = Duration.ofMillis(20);

    private final RateLimit limit = RateLimit.named("tokens").rate("100/s").build();

    private final HandTurnedThread thread = new HandTurnedThread();

    private final List<Sent> underWay = new ArrayList<>();

    private int sent;

    private int mostUnderWay;

    private boolean clustered;

    private final GuardedRedis redis = new GuardedRedis(
            new RateLimitScriptExecutor() {
                @Override
                public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
                    Sent next = new Sent(keys, List.of(arguments), new CompletableFuture<>());
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
                    return clustered ? RedisTopology.UNKNOWN_CLUSTER : RedisTopology.ONE_SERVER;
                }
            },
            TIMEOUT,
            "test",
            thread,
            thread::nanos);

    private final SettlementQueue queue = new SettlementQueue(redis, new ScriptCodec());

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
        return queue.charge(new Charge(limit, key, permits), key.getBytes(StandardCharsets.UTF_8));
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

    private static Reason reasonOf(CompletableFuture<Void> settled) {
        assertThat(settled).isCompletedExceptionally();
        CompletionException failure = catchThrowableOfType(CompletionException.class, settled::join);
        return ((RateLimitStoreException) failure.getCause()).getReason();
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
        assertThat(sent).isLessThanOrEqualTo(2 + 10_000 / SettlementQueue.FULL);
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
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis")) {
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
        assertThat(underWay.get(0).keys).hasSize(SettlementQueue.FULL);
        thread.pass(TIMEOUT.multipliedBy(8));
        CompletableFuture<Void> young = charge(1).get(0);
        thread.pass(TIMEOUT.multipliedBy(2).plusSeconds(1));
        fail(new TimeoutException());
        settled.forEach(old -> assertThat(reasonOf(old)).isEqualTo(Reason.TIMEOUT));
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
        }
        assertThat(amounts).hasSize(200).doesNotHaveDuplicates();
        assertThat(settled).allMatch(CompletableFuture::isCompletedExceptionally);
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
