package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several scripts are under way to a server that is far away. */
@Timeout(60)
class HighLatencyQueueTests {

    private static final Duration TIMEOUT = Duration.ofMillis(100);

    private static final Duration BETWEEN_CALLS = Duration.ofNanos(50_000);

    private static final int CALLS = 20_000;

    private final HandTurnedThread thread = new HandTurnedThread();

    private final BatchTimeout timeout = PendingCalls.timeout(thread, TIMEOUT);

    private final BatchQueue queue =
            new BatchQueue(new ConcurrentLinkedQueue<>(), timeout, this::send, this::queue, call -> {});

    private final List<Integer> sizes = new ArrayList<>();

    private Duration roundTrip = Duration.ofMillis(20);

    private long leastLeft = Long.MAX_VALUE;

    private int underWay;

    private int mostUnderWay;

    private long latencies;

    private int answered;

    private BatchQueue queue(PendingCall<?> call) {
        return queue;
    }

    private CompletableFuture<List<Long>> send(Batch batch) {
        sizes.add(batch.calls().size());
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
        return batch.bound(reply);
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
        assertThat(mostUnderWay).isBetween(2, 32);
        assertThat(leastLeft).isGreaterThan(roundTrip.toNanos());
    }

    @Test
    void oneScriptIsUnderWayToAServerNearby() {
        roundTrip = Duration.ofMillis(1);
        callAllTheTime();
        assertThat(answered).isEqualTo(CALLS);
        assertThat(mostUnderWay).isEqualTo(1);
    }

    /** Most answers of a server nearby come late, if this machine is busy: that makes it no farther away. */
    @Test
    void oneScriptIsUnderWayToAServerNearbyAlsoWhileThisMachineIsBusy() {
        for (int i = 0; i < 200; i++) {
            roundTrip = Duration.ofMillis(i % 20 == 0 ? 1 : 15);
            for (int j = 0; j < 10; j++) {
                var unused = call();
            }
            thread.pass(TIMEOUT);
        }
        assertThat(mostUnderWay).isEqualTo(1);
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

    /** Nobody is charged for what cannot be answered in time. */
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
        for (int i = 0; i < 50; i++) {
            var unused = call();
            thread.pass(TIMEOUT);
        }
        answered = 0;
        latencies = 0;
        leastLeft = Long.MAX_VALUE;
    }
}
