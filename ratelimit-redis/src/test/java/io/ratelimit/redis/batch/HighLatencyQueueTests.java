package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.door.ServerCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several scripts are under way to a server that is far away. */
@Timeout(180)
class HighLatencyQueueTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final Duration BETWEEN_CALLS = Duration.ofNanos(50_000);

    private static final int CALLS = 20_000;

    private final HandTurnedThread thread = new HandTurnedThread();

    /** What other threads than that of a reply are to do. */
    private final List<Runnable> handedOver = new ArrayList<>();

    private Executor others = Runnable::run;

    private final DeadlineTimer timeout = PendingCalls.timeout(thread, TIMEOUT, task -> others.execute(task));

    private Function<Batch, ServerCall<List<Long>>> script = this::send;

    private final BatchQueue queue = new BatchQueue(
            new ConcurrentLinkedQueue<>(), timeout, batch -> script.apply(batch), this::queue, call -> {});

    private final List<Integer> sizes = new ArrayList<>();

    private final List<Duration> moments = new ArrayList<>();

    private Duration roundTrip = Duration.ofMillis(20);

    private long start;

    private long leastLeft = Long.MAX_VALUE;

    private int underWay;

    private int mostUnderWay;

    private long latencies;

    private int answered;

    private BatchQueue queue(PendingCall<?> call) {
        return queue;
    }

    private ServerCall<List<Long>> send(Batch batch) {
        sizes.add(batch.calls().size());
        moments.add(Duration.ofNanos(thread.nanos() - start));
        batch.calls().forEach(call -> leastLeft = Math.min(leastLeft, call.nanosLeft()));
        mostUnderWay = Math.max(mostUnderWay, ++underWay);
        CompletableFuture<List<Long>> reply = new CompletableFuture<>();
        var unused = thread.schedule(
                () -> {
                    underWay--;
                    reply.complete(Collections.nCopies(4 * batch.calls().size(), 0L));
                },
                roundTrip.toNanos(),
                TimeUnit.NANOSECONDS);
        return PendingCalls.sent(reply);
    }

    private CompletableFuture<Long> call() {
        PendingCall<Long> call = PendingCalls.asynchronous(timeout.deadline());
        long start = thread.nanos();
        queue.dispatch(call);
        return call.outcome().whenComplete((answer, thrown) -> {
            if (thrown == null) {
                answered++;
                latencies += thread.nanos() - start;
            }
        });
    }

    private void callAllTheTime() {
        for (int i = 0; i < CALLS; i++) {
            var unused = call();
            thread.pass(BETWEEN_CALLS);
        }
        thread.pass(TIMEOUT);
    }

    @Test
    void twentyThousandCallsASecondAreAnsweredWithinOneAndAHalfRoundTrips() {
        callAllTheTime();
        assertThat(answered).isEqualTo(CALLS);
        assertThat(latencies / CALLS).isLessThan(roundTrip.toNanos() * 3 / 2);
        assertThat(mostUnderWay).isBetween(2, 40);
        assertThat(leastLeft).isGreaterThan(roundTrip.toNanos());
    }

    @Test
    void oneScriptIsUnderWayToAServerNearby() {
        roundTrip = Duration.ofNanos(900_000);
        callAllTheTime();
        assertThat(answered).isEqualTo(CALLS);
        assertThat(mostUnderWay).isEqualTo(1);
    }

    /** Callers of a few threads do not wait for the scripts of others that are on their way. */
    @ParameterizedTest
    @ValueSource(ints = {2, 5, 20, 80})
    void callsWaitForAnIntervalAndNotForAnAnswer(int roundTripMillis) {
        roundTrip = Duration.ofMillis(roundTripMillis);
        learn();
        for (int i = 0; i < 32; i++) {
            var unused = call();
        }
        assertThat(sizes).containsExactly(1);
        thread.pass(TIMEOUT);
        assertThat(sizes).containsExactly(1, 31);
        assertThat(moments.get(1)).isCloseTo(Duration.ofNanos(500_000), Duration.ofNanos(10));
        assertThat(answered).isEqualTo(32);
    }

    /** It would overtake a release that the thread of the driver has not written yet. */
    @Test
    void replySendsNoScriptItselfWhileAReleaseIsUnderWay() {
        List<CompletableFuture<List<Long>>> replies = new ArrayList<>();
        script = batch -> {
            replies.add(new CompletableFuture<>());
            return PendingCalls.sent(replies.get(replies.size() - 1));
        };
        queue.dispatch(PendingCalls.asynchronous());
        queue.dispatch(PendingCalls.release());
        for (int i = 1; i < 128 * 6; i++) {
            var unused = call();
        }
        others = handedOver::add;
        assertThat(sentAfterReply(replies, 0)).as("a release is under way").isFalse();
        List.copyOf(handedOver).forEach(Runnable::run);
        assertThat(sentAfterReply(replies, 1)).as("the reply of the release").isTrue();
        assertThat(sentAfterReply(replies, 2)).as("no release is under way").isTrue();
    }

    private static boolean sentAfterReply(List<CompletableFuture<List<Long>>> replies, int number) {
        int sent = replies.size();
        replies.get(number).complete(Collections.nCopies(4 * 128, 0L));
        return replies.size() > sent;
    }

    /** Waiting would make it no fuller. */
    @Test
    void fullScriptIsSentAtOnceAlsoToAServerNearby() {
        roundTrip = Duration.ofNanos(200_000);
        learn();
        for (int i = 0; i < 1 + 128 * 4; i++) {
            var unused = call();
        }
        assertThat(sizes).containsExactly(1, 128, 128, 128);
        thread.pass(roundTrip);
        assertThat(sizes).containsExactly(1, 128, 128, 128, 128);
    }

    /** Answers of a server nearby come late, if this machine is busy: further scripts would make it busier. */
    @Test
    void scriptsThatAreNotFullAreSentAtIntervals() {
        roundTrip = Duration.ofMillis(3);
        learn();
        for (int i = 0; i < 1_000; i++) {
            var unused = call();
            thread.pass(Duration.ofNanos(10_000));
        }
        assertThat(moments)
                .hasSize(21)
                .allSatisfy(moment -> assertThat(moment.toNanos() % 500_000).isZero());
        assertThat(mostUnderWay).isEqualTo(6);
    }

    /** What the timer would have done is done by the next answer. */
    @Test
    void callsAreSentByAnAnswerIfThereIsNoThreadForTheTimer() {
        learn();
        thread.shutdown();
        List<CompletableFuture<List<Long>>> replies = new ArrayList<>();
        script = batch -> {
            replies.add(new CompletableFuture<>());
            return PendingCalls.sent(replies.get(replies.size() - 1));
        };
        queue.dispatch(PendingCalls.patient());
        PendingCall<Long> next = PendingCalls.patient();
        queue.dispatch(next);
        assertThat(replies).hasSize(1);
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(replies).hasSize(2);
        replies.get(1).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(next.outcome()).isCompleted();
    }

    @Test
    void burstIsSentWithoutWaitingForAnswers() {
        learn();
        for (int i = 0; i < 1_000; i++) {
            var unused = call();
        }
        assertThat(underWay).isGreaterThan(7);
        thread.pass(TIMEOUT);
        assertThat(latencies / 1_000).isLessThan(roundTrip.toNanos() * 3 / 2);
    }

    /** No caller is charged for what cannot be answered in time. */
    @Test
    void callThatHasLessTimeLeftThanARoundTripIsNotSent() {
        learn();
        PendingCall<Long> call = PendingCalls.asynchronous(Deadlines.in(Duration.ofMillis(9), thread::nanos));
        queue.dispatch(call);
        assertThat(call.outcome())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(RateLimitStoreException.class);
        assertThat(underWay).isZero();
    }

    /** It knows how far away the server is. */
    private void learn() {
        for (int i = 0; i < 150; i++) {
            var unused = call();
            thread.pass(TIMEOUT);
        }
        answered = 0;
        latencies = 0;
        leastLeft = Long.MAX_VALUE;
        mostUnderWay = 0;
        sizes.clear();
        moments.clear();
        start = thread.nanos();
    }
}
