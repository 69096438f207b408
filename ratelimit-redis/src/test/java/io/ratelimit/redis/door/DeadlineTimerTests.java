package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.batch.Batch;
import io.ratelimit.redis.batch.BatchQueue;
import io.ratelimit.redis.batch.PendingCall;
import io.ratelimit.redis.batch.PendingCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No call waits for longer than the timeout; a call that was not sent, for two. */
@Timeout(180)
@SuppressWarnings("FutureReturnValueIgnored")
class DeadlineTimerTests {

    private static final Duration MILLI = Duration.ofMillis(1);

    private static final Duration TIMEOUT = MILLI.multipliedBy(100);

    private final HandTurnedThread thread = new HandTurnedThread();

    private final DeadlineTimer timeout = PendingCalls.timeout(thread, TIMEOUT);

    private final List<CompletableFuture<List<Long>>> replies = new ArrayList<>();

    private final List<Batch> batches = new ArrayList<>();

    private Runnable onSending = () -> {};

    private final BatchQueue queue =
            new BatchQueue(new ConcurrentLinkedQueue<>(), timeout, this::send, this::queue, call -> {});

    private ServerCall<List<Long>> send(Batch batch) {
        onSending.run();
        CompletableFuture<List<Long>> reply = new CompletableFuture<>();
        batches.add(batch);
        replies.add(reply);
        return PendingCalls.sent(reply);
    }

    private BatchQueue queue(PendingCall<?> call) {
        return queue;
    }

    private PendingCall<Long> call() {
        PendingCall<Long> call = PendingCalls.asynchronous(timeout.deadline());
        queue.dispatch(call);
        return call;
    }

    private void pass(int millis) {
        thread.pass(MILLI.multipliedBy(millis));
    }

    @Test
    void callThatIsUnderWayEndsInTime() {
        PendingCall<Long> call = call();
        pass(99);
        assertThat(call.outcome()).isNotDone();
        pass(1);
        assertThat(reasonOf(call)).isEqualTo(Reason.TIMEOUT);
        assertThat(replies.get(0)).isCancelled();
    }

    @Test
    void callEndsInTimeThoughNoThreadCanBeHadForIt() {
        DeadlineTimer alone = PendingCalls.timeout(thread, TIMEOUT, task -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        PendingCall<Long> call = PendingCalls.asynchronous(alone.deadline());
        call.markSent();
        alone.watch(call);
        pass(100);
        assertThat(reasonOf(call)).isEqualTo(Reason.TIMEOUT);
    }

    /** The timer may run before the thread that reads what has come meanwhile. */
    @Test
    void replyThatHasComeWhileTheJvmStoodStillIsReadBeforeItsCallIsEnded() {
        PendingCall<Long> call = call();
        thread.stall(TIMEOUT.multipliedBy(3));
        thread.turn();
        assertThat(call.outcome()).isNotDone();
        replies.get(0).complete(List.of(7L));
        assertThat(call.outcome()).isCompletedWithValue(7L);
    }

    @Test
    void callsOfABatchEndEachInTime() {
        call();
        PendingCall<Long> first = call();
        pass(20);
        PendingCall<Long> second = call();
        pass(10);
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(batches.get(1).calls()).containsExactly(first, second);
        pass(69);
        assertThat(first.outcome()).isNotDone();
        pass(1);
        assertThat(reasonOf(first)).isEqualTo(Reason.TIMEOUT);
        pass(19);
        assertThat(second.outcome()).isNotDone();
        pass(1);
        assertThat(reasonOf(second)).isEqualTo(Reason.TIMEOUT);
        assertThat(replies.get(1)).as("sent after 30 ms").isNotDone();
        pass(10);
        assertThat(replies.get(1)).isCancelled();
    }

    @Test
    void scriptHasItsTimeFromWhenItWasSent() {
        onSending = () -> pass(90);
        call();
        onSending = () -> {};
        PendingCall<Long> next = call();
        pass(99);
        assertThat(replies.get(0)).isNotDone();
        pass(1);
        assertThat(replies.get(0)).isCancelled();
        replies.get(1).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(next.outcome()).isCompletedWithValue(1L);
    }

    /** The timer finds nothing to end while the script is on its way to being sent. */
    @Test
    void scriptThatTookLongToSendEndsAllTheSame() {
        onSending = () -> pass(150);
        call();
        onSending = () -> {};
        pass(100);
        assertThat(replies.get(0)).isCancelled();
        PendingCall<Long> next = call();
        replies.get(1).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(next.outcome()).isCompletedWithValue(1L);
        pass(100);
        assertThat(thread.isIdle()).isTrue();
    }

    @Test
    void callThatWasNotAskedAboutIsAskedAboutWithinAFurtherTimeout() {
        List<PendingCall<Long>> late = new ArrayList<>();
        onSending = () -> {
            onSending = () -> {};
            late.add(call());
            pass(150);
        };
        call();
        assertThat(late.get(0).outcome()).isNotDone();
        pass(20);
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        replies.get(1).complete(List.of(2L, 0L, 0L, 0L));
        assertThat(late.get(0).outcome()).isCompletedWithValue(2L);
    }

    @Test
    void callThatCannotBeAskedAboutEvenThenHasStalled() {
        List<PendingCall<Long>> late = new ArrayList<>();
        onSending = () -> {
            onSending = () -> {};
            late.add(call());
            pass(199);
            assertThat(late.get(0).outcome()).isNotDone();
            pass(1);
            assertThat(reasonOf(late.get(0))).isEqualTo(Reason.STALLED);
        };
        call();
        assertThat(late).hasSize(1);
    }

    /** What follows an answer may take its time, on the thread that brings the answers. */
    @Test
    void callBehindASlowCallerOfABatchEndsInTimeToo() {
        call();
        PendingCall<Long> slow = call();
        PendingCall<Long> behind = call();
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        slow.outcome().thenRun(() -> pass(100));
        replies.get(1).complete(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L));
        assertThat(slow.outcome()).isCompletedWithValue(1L);
        assertThat(reasonOf(behind)).isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void timerRestsWhileThereIsNothingToEnd() {
        call();
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        pass(100);
        assertThat(thread.isIdle()).isTrue();
        PendingCall<Long> next = call();
        pass(100);
        assertThat(reasonOf(next)).isEqualTo(Reason.TIMEOUT);
    }

    /** A pause of 80 ms shows in the timer, and is given to all calls that wait; but no more than a further timeout. */
    @Test
    void timeInWhichTheJvmStandsStillIsNotCounted() {
        PendingCall<Long> call = call();
        pass(50);
        thread.stall(MILLI.multipliedBy(80));
        pass(0);
        assertThat(call.outcome()).isNotDone();
        replies.get(0).complete(List.of(1L, 0L, 0L, 0L));
        assertThat(call.outcome()).isCompletedWithValue(1L);
        PendingCall<Long> other = call();
        pass(10);
        thread.stall(TIMEOUT.multipliedBy(2));
        pass(0);
        assertThat(reasonOf(other)).isEqualTo(Reason.TIMEOUT);
    }

    private static Reason reasonOf(PendingCall<?> call) {
        assertThat(call.outcome()).isDone();
        CompletionException thrown = catchThrowableOfType(CompletionException.class, call.outcome()::join);
        return ((RateLimitStoreException) thrown.getCause()).getReason();
    }
}
