package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class WatchTests {

    private static final Duration MILLI = Duration.ofMillis(1);

    private static final List<Long> REPLY = List.of(1L, 0L, 0L, 0L);

    private final HandTurnedThread thread = new HandTurnedThread();

    private final Watch watch = new Watch(nanos -> task -> {
        var unused = thread.schedule(task, nanos, TimeUnit.NANOSECONDS);
    });

    private final CompletableFuture<List<Long>> work = new CompletableFuture<>();

    private PendingCall<Long> callWith(Duration time) {
        return PendingCalls.by(Deadline.in(time, thread::nanos));
    }

    private Batch start(PendingCall<?>... calls) {
        Batch batch = new Batch(List.of(calls));
        var unused = batch.bound(work);
        watch.start(batch);
        return batch;
    }

    @Test
    void eachOfABatchLeavesInTime() {
        PendingCall<Long> first = callWith(MILLI.multipliedBy(100));
        PendingCall<Long> second = callWith(MILLI.multipliedBy(120));
        PendingCall<Long> third = callWith(MILLI.multipliedBy(150));
        start(first, second, third);
        thread.pass(MILLI.multipliedBy(99));
        assertThat(first.outcome()).isNotDone();
        thread.pass(MILLI);
        assertThat(reasonOf(first)).isEqualTo(Reason.TIMEOUT);
        thread.pass(MILLI.multipliedBy(19));
        assertThat(second.outcome()).isNotDone();
        thread.pass(MILLI);
        assertThat(reasonOf(second)).isEqualTo(Reason.TIMEOUT);
        thread.pass(MILLI.multipliedBy(29));
        assertThat(third.outcome()).isNotDone();
        assertThat(work).isNotDone();
        thread.pass(MILLI);
        assertThat(reasonOf(third)).isEqualTo(Reason.TIMEOUT);
        assertThat(work).isCancelled();
        assertThat(thread.isIdle()).isTrue();
    }

    @Test
    void timerOfABatchThatIsOverIsSetAnewToTheOneUnderWay() {
        start(callWith(MILLI.multipliedBy(100))).answer(REPLY);
        thread.pass(MILLI.multipliedBy(60));
        PendingCall<Long> next = callWith(MILLI.multipliedBy(100));
        start(next);
        thread.pass(MILLI.multipliedBy(99));
        assertThat(next.outcome()).isNotDone();
        thread.pass(MILLI);
        assertThat(reasonOf(next)).isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void timerRestsWhileNothingIsUnderWay() {
        start(callWith(MILLI)).answer(REPLY);
        thread.pass(MILLI);
        assertThat(thread.isIdle()).isTrue();
        PendingCall<Long> next = callWith(MILLI);
        start(next);
        thread.pass(MILLI);
        assertThat(reasonOf(next)).isEqualTo(Reason.TIMEOUT);
    }

    /** What follows an answer may take its time, on the thread that brings the answers. */
    @Test
    void whoeverIsBehindASlowCallerOfABatchLeavesInTimeToo() {
        PendingCall<Long> slow = callWith(MILLI);
        PendingCall<Long> behind = callWith(MILLI);
        var unused = slow.outcome().thenRun(() -> thread.pass(MILLI));
        start(slow, behind).answer(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L));
        assertThat(slow.outcome()).isCompletedWithValue(1L);
        assertThat(reasonOf(behind)).isEqualTo(Reason.TIMEOUT);
    }

    private static Reason reasonOf(PendingCall<?> call) {
        assertThat(call.outcome()).isDone();
        CompletionException thrown = catchThrowableOfType(CompletionException.class, call.outcome()::join);
        return ((RateLimitStoreException) thrown.getCause()).getReason();
    }
}
