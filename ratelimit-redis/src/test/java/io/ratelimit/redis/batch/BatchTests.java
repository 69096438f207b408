package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.Deadlines;
import io.ratelimit.redis.door.ServerCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class BatchTests {

    private final CompletableFuture<List<Long>> work = new CompletableFuture<>();

    private final List<Batch> expired = new ArrayList<>();

    private Batch batch(PendingCall<?>... calls) {
        Batch batch = new Batch(Deadlines.in(Duration.ofHours(1)), expired::add);
        List.of(calls).forEach(batch::add);
        return batch;
    }

    @Test
    void threadsThatWaitAreToldFirst() {
        PendingCall<Long> patient = PendingCalls.patient();
        PendingCall<Long> asynchronous = PendingCalls.asynchronous();
        CompletableFuture<Boolean> patientWasTold =
                asynchronous.outcome().thenApply(told -> patient.outcome().isDone());
        Batch batch = batch(asynchronous, patient);
        assertThat(batch.end(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L), null)).isTrue();
        batch.complete();
        assertThat(asynchronous.outcome().join()).isEqualTo(1);
        assertThat(patient.outcome().join()).isEqualTo(2);
        assertThat(patientWasTold.join()).isTrue();
    }

    @Test
    void scriptThatIsOutOfTimeIsGivenUp() {
        Batch batch = batch(PendingCalls.patient());
        batch.sent(PendingCalls.sent(work), 0, Deadlines.in(Duration.ofHours(1)));
        assertThat(batch.expire()).isFalse();
        assertThat(work).isCancelled();
        assertThat(expired).containsExactly(batch);
    }

    /** The thread that was stuck in the driver comes back just then. */
    @Test
    void scriptThatIsSentWhileItIsGivenUpIsCancelled() {
        Deadline deadline = Deadlines.in(Duration.ofHours(1));
        Batch batch = new Batch(deadline, overdue -> overdue.sent(PendingCalls.sent(work), 0, deadline));
        batch.add(PendingCalls.patient());
        assertThat(batch.expire()).isFalse();
        assertThat(work).isCancelled();
    }

    @Test
    void scriptEndsOnceAndTheCircuitBreakerIsToldOfThat() {
        List<Throwable> told = new ArrayList<>();
        RateLimitStoreException failure = new RateLimitStoreException(Reason.TIMEOUT, "no answer in time", null);
        Batch batch = batch(PendingCalls.patient());
        batch.sent(
                new ServerCall<>(work, thrown -> {
                    told.add(thrown);
                    return failure;
                }),
                0,
                Deadlines.in(Duration.ofHours(1)));
        TimeoutException late = new TimeoutException();
        assertThat(batch.end(List.of(), late)).isTrue();
        assertThat(batch.end(List.of(1L, 0L, 0L, 0L), null)).isFalse();
        assertThat(told).containsExactly(late);
        assertThat(batch.failure()).isSameAs(failure);
    }

    /** Its thread is stuck in the driver. */
    @Test
    void circuitBreakerIsToldOfAScriptThatIsOverBeforeItIsSent() {
        List<Throwable> told = new ArrayList<>();
        Batch batch = batch(PendingCalls.patient());
        TimeoutException late = new TimeoutException();
        assertThat(batch.end(List.of(), late)).isTrue();
        assertThat(batch.failure()).isSameAs(late);
        batch.sent(
                new ServerCall<>(work, thrown -> {
                    told.add(thrown);
                    return null;
                }),
                0,
                Deadlines.in(Duration.ofHours(1)));
        assertThat(told).singleElement().isInstanceOf(TimeoutException.class);
        assertThat(work).isCancelled();
    }
}
