package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
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

/** Nobody who waits is left behind, and nobody is asked about who has left. */
@Timeout(30)
class LaneQueueTests {

    private final List<Batch> batches = new ArrayList<>();

    private final List<CompletableFuture<List<Long>>> replies = new ArrayList<>();

    private final WaitingLine waiting = new WaitingLine();

    private final Lane lane = new Lane(waiting, this::send, this::lane, call -> {});

    /** What comes at the moment when nobody is found to wait comes after that. */
    private static final class WaitingLine extends AbstractQueue<PendingCall<?>> {

        private final Queue<PendingCall<?>> calls = new ArrayDeque<>();

        private Runnable onceFoundEmpty = () -> {};

        @Override
        public boolean offer(PendingCall<?> call) {
            return calls.offer(call);
        }

        @Override
        public PendingCall<?> poll() {
            PendingCall<?> call = calls.poll();
            if (call == null) {
                Runnable arrival = onceFoundEmpty;
                onceFoundEmpty = () -> {};
                arrival.run();
            }
            return call;
        }

        @Override
        public PendingCall<?> peek() {
            return calls.peek();
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

    private CompletableFuture<List<Long>> send(Batch batch) {
        batches.add(batch);
        CompletableFuture<List<Long>> reply = new CompletableFuture<>();
        replies.add(reply);
        return reply;
    }

    private Lane lane(PendingCall<?> call) {
        return lane;
    }

    private void answer(int batch) {
        replies.get(batch).complete(List.of(1L, 0L, 0L, 0L));
    }

    @Test
    void whoeverComesJustWhenNobodyWaitsAnyMoreIsAskedAbout() {
        PendingCall<Long> last = PendingCalls.patient();
        lane.decide(PendingCalls.patient());
        waiting.onceFoundEmpty = () -> lane.decide(last);
        answer(0);
        assertThat(batches).hasSize(2);
        assertThat(batches.get(1).calls()).containsExactly(last);
        answer(1);
        assertThat(last.outcome()).isCompletedWithValue(1L);
    }

    @Test
    void whoeverHasNoMoreTimeWhenItIsHisTurnIsNotAskedAbout() {
        PendingCall<Long> overdue = PendingCalls.overdue();
        PendingCall<Long> patient = PendingCalls.patient();
        lane.decide(PendingCalls.patient());
        lane.decide(overdue);
        lane.decide(patient);
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
                        thrown -> assertThat(thrown.getReason()).isEqualTo(Reason.TIMEOUT));
    }

    @Test
    void nothingIsSentIfNobodyHasTime() {
        PendingCall<Long> overdue = PendingCalls.overdue();
        lane.decide(overdue);
        assertThat(overdue.outcome()).isCompletedExceptionally();
        assertThat(batches).isEmpty();
        lane.decide(PendingCalls.patient());
        assertThat(batches).hasSize(1);
    }
}
