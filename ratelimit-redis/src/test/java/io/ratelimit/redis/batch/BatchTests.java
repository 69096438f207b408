package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.redis.door.Deadlines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
        batch(asynchronous, patient).answer(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L));
        assertThat(asynchronous.outcome().join()).isEqualTo(1);
        assertThat(patient.outcome().join()).isEqualTo(2);
        assertThat(patientWasTold.join()).isTrue();
    }

    @Test
    void scriptThatIsOutOfTimeIsGivenUp() {
        Batch batch = batch(PendingCalls.patient());
        CompletableFuture<List<Long>> bounded = batch.bound(work);
        assertThat(batch.expire()).isFalse();
        assertThat(work).isCancelled();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(bounded::join)
                .withCauseInstanceOf(TimeoutException.class);
        assertThat(expired).containsExactly(batch);
    }

    @Test
    void whatIsDoneAtOnceIsNotWaitedFor() {
        Batch batch = batch(PendingCalls.patient());
        work.complete(List.of());
        assertThat(batch.bound(work)).isSameAs(work);
    }
}
