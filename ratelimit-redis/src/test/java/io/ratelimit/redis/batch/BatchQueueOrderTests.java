package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.HandTurnedThread;
import io.ratelimit.redis.door.DeadlineTimer;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.door.ServerCall;
import java.time.Duration;
import java.util.AbstractQueue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** No call that waits is left behind, and none is sent that has left. */
@Timeout(180)
class BatchQueueOrderTests {

    private final List<Batch> batches = new ArrayList<>();

    private final List<CompletableFuture<List<Long>>> replies = new ArrayList<>();

    private final WaitingLine waiting = new WaitingLine();

    private final HandTurnedThread thread = new HandTurnedThread();

    private final DeadlineTimer timeout = PendingCalls.timeout(thread, Duration.ofHours(1));

    private Runnable onSending = () -> {};

    private final BatchQueue queue = new BatchQueue(waiting, timeout, this::send, this::queue, call -> {});

    /** A call that comes at the moment when no call is found to wait is next. */
    private static final class WaitingLine extends AbstractQueue<PendingCall<?>> {

        private final Queue<PendingCall<?>> calls = new ArrayDeque<>();

        private Runnable onceFoundEmpty = () -> {};

        @Override
        public boolean offer(PendingCall<?> call) {
            return calls.offer(call);
        }

        @Override
        public PendingCall<?> poll() {
            return calls.poll();
        }

        @Override
        public PendingCall<?> peek() {
            PendingCall<?> call = calls.peek();
            if (call == null) {
                arrive();
            }
            return call;
        }

        @Override
        public boolean isEmpty() {
            boolean empty = calls.isEmpty();
            if (empty) {
                arrive();
            }
            return empty;
        }

        private void arrive() {
            Runnable arrival = onceFoundEmpty;
            onceFoundEmpty = () -> {};
            arrival.run();
        }

        @Override
        public Iterator<PendingCall<?>> iterator() {
            return calls.iterator();
        }

        @Override
        public int size() {
            return calls.size();
        }
    }

    private ServerCall<List<Long>> send(Batch batch) {
        onSending.run();
        batches.add(batch);
        CompletableFuture<List<Long>> reply = new CompletableFuture<>();
        replies.add(reply);
        return PendingCalls.sent(reply);
    }

    private BatchQueue queue(PendingCall<?> call) {
        return queue;
    }

    private void answer(int batch) {
        replies.get(batch).complete(List.of(1L, 0L, 0L, 0L));
    }

    @Test
    void whoeverComesJustWhenNobodyWaitsAnyMoreIsAskedAbout() {
        PendingCall<Long> last = PendingCalls.patient();
        queue.dispatch(PendingCalls.patient());
        waiting.onceFoundEmpty = () -> queue.dispatch(last);
        answer(0);
        assertThat(batches).hasSize(2);
        assertThat(batches.get(1).calls()).containsExactly(last);
        answer(1);
        assertThat(last.outcome()).isCompletedWithValue(1L);
    }

    @Test
    void whoeverComesWhileABatchIsFilledIsAskedAboutByTheNext() {
        PendingCall<Long> last = PendingCalls.patient();
        waiting.onceFoundEmpty = () -> queue.dispatch(last);
        queue.dispatch(PendingCalls.patient());
        answer(0);
        assertThat(batches.get(1).calls()).containsExactly(last);
    }

    @Test
    void batchThatIsStuckIsGivenUpAndTheNextIsSent() {
        PendingCall<Long> stuck = PendingCalls.by(timeout.deadline());
        PendingCall<Long> next = PendingCalls.patient();
        queue.dispatch(stuck);
        queue.dispatch(next);
        assertThat(queue.resumeIfStuck()).isFalse();
        thread.stall(Duration.ofHours(4));
        assertThat(queue.resumeIfStuck()).isTrue();
        assertThat(queue.resumeIfStuck()).isFalse();
        assertThat(stuck.outcome()).isCompletedExceptionally();
        assertThat(batches).hasSize(2);
        assertThat(batches.get(1).calls()).containsExactly(next);
    }

    /** Its thread never comes back from sending. */
    @Test
    void queueThatIsStuckInSendingGoesOn() {
        PendingCall<Long> next = PendingCalls.patient();
        onSending = () -> {
            onSending = () -> {};
            queue.dispatch(next);
            thread.stall(Duration.ofHours(4));
            assertThat(queue.resumeIfStuck()).isTrue();
            assertThat(batches.get(0).calls()).containsExactly(next);
        };
        queue.dispatch(PendingCalls.by(timeout.deadline()));
        assertThat(batches).hasSize(2);
    }

    /** The queue of a JVM that was stalled begins with such calls. */
    @Test
    void scriptIsNotStuckBecauseACallBeforeItsOwnHasLeftLongAgo() {
        PendingCall<Long> next = PendingCalls.patient();
        queue.dispatch(PendingCalls.patient());
        queue.dispatch(PendingCalls.by(Deadlines.in(Duration.ofHours(-1))));
        queue.dispatch(next);
        onSending = queue::resumeIfStuck;
        answer(0);
        assertThat(batches.get(1).calls()).containsExactly(next);
        assertThat(next.outcome()).isNotDone();
    }

    @Test
    void whoeverHasNoMoreTimeWhenItIsHisTurnIsNotAskedAbout() {
        PendingCall<Long> overdue = PendingCalls.overdue();
        PendingCall<Long> patient = PendingCalls.patient();
        queue.dispatch(PendingCalls.patient());
        queue.dispatch(overdue);
        queue.dispatch(patient);
        answer(0);
        assertThat(batches).hasSize(2);
        assertThat(batches.get(1).calls()).containsExactly(patient);
        assertThat(overdue.outcome())
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(
                        RateLimitStoreException.class,
                        thrown -> assertThat(thrown.getReason()).isEqualTo(Reason.STALLED));
    }

    @Test
    void nothingIsSentIfNobodyHasTime() {
        PendingCall<Long> overdue = PendingCalls.overdue();
        queue.dispatch(overdue);
        assertThat(overdue.outcome()).isCompletedExceptionally();
        assertThat(batches).isEmpty();
        queue.dispatch(PendingCalls.patient());
        assertThat(batches).hasSize(1);
    }
}
