package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class DeadlineTests {

    private final CompletableFuture<String> work = new CompletableFuture<>();

    @Test
    void workIsCancelledAtTheDeadline() {
        CompletableFuture<String> bounded = Deadlines.in(Duration.ofMillis(20)).bound(work);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(bounded::join)
                .withCauseInstanceOf(TimeoutException.class);
        await().until(work::isCancelled);
    }

    @Test
    void nothingIsWaitedForWhenItIsOver() {
        Deadline over = Deadlines.in(Duration.ofSeconds(-1));
        assertThat(over.isOver()).isTrue();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(over.bound(work)::join)
                .withCauseInstanceOf(TimeoutException.class);
        await().until(work::isCancelled);
    }

    @Test
    void resultInTimeIsTheResult() {
        CompletableFuture<String> bounded = late().bound(work);
        assertThat(bounded).isNotDone();
        work.complete("done");
        assertThat(bounded).isCompletedWithValue("done");
    }

    @Test
    void failureInTimeIsTheFailure() {
        CompletableFuture<String> bounded = late().bound(work);
        IllegalStateException failure = new IllegalStateException("failed");
        work.completeExceptionally(failure);
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(bounded::join)
                .withCause(failure);
    }

    /** It is not taken away from a call that has it already. */
    @Test
    void whatIsDoneStaysAsItIsAlsoWhenItIsOver() {
        work.complete("done");
        assertThat(Deadlines.in(Duration.ofSeconds(-1)).bound(work)).isCompletedWithValue("done");
    }

    @Test
    void callerThatCancelsCancelsTheWork() {
        late().bound(work).cancel(false);
        assertThat(work).isCancelled();
    }

    private static Deadline late() {
        return Deadlines.in(Duration.ofHours(1));
    }
}
