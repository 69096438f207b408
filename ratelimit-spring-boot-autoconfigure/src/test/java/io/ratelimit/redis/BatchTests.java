package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BatchTests {

    private final CompletableFuture<List<Long>> work = new CompletableFuture<>();

    private final PendingCall<Long> hasty = PendingCalls.overdue();

    private final PendingCall<Long> patient = PendingCalls.patient();

    @Test
    void whoeverHasNoMoreTimeLeavesAlone() {
        Batch batch = new Batch(List.of(hasty, patient));
        CompletableFuture<List<Long>> bounded = batch.bound(work);
        assertThat(batch.nanosLeft()).isNegative();
        batch.expire();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(hasty.outcome()::join)
                .withCauseInstanceOf(RateLimitStoreException.class)
                .satisfies(thrown -> assertThat(((RateLimitStoreException) thrown.getCause()).getReason())
                        .isEqualTo(Reason.TIMEOUT));
        assertThat(patient.outcome()).isNotDone();
        assertThat(batch.nanosLeft()).isPositive();
        assertThat(batch.isOver()).isFalse();
        assertThat(work).isNotDone();
        work.complete(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L));
        batch.answer(bounded.join());
        assertThat(patient.outcome().join()).isEqualTo(2);
    }

    @Test
    void threadsThatWaitAreToldFirst() {
        PendingCall<Long> asynchronous = PendingCalls.asynchronous();
        CompletableFuture<Boolean> patientWasTold =
                asynchronous.outcome().thenApply(told -> patient.outcome().isDone());
        new Batch(List.of(asynchronous, patient)).answer(List.of(1L, 0L, 0L, 0L, 2L, 0L, 0L, 0L));
        assertThat(asynchronous.outcome().join()).isEqualTo(1);
        assertThat(patient.outcome().join()).isEqualTo(2);
        assertThat(patientWasTold.join()).isTrue();
    }

    @Test
    void withTheLastOfThemTheWorkIsGivenUp() {
        Batch batch = new Batch(List.of(hasty, PendingCalls.overdue()));
        CompletableFuture<List<Long>> bounded = batch.bound(work);
        batch.expire();
        assertThat(batch.isOver()).isTrue();
        assertThat(batch.nanosLeft()).as("a timer that is set to it goes off").isZero();
        assertThat(work).isCancelled();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(bounded::join)
                .withCauseInstanceOf(TimeoutException.class);
    }

    @Test
    void whatIsDoneAtOnceIsNotWaitedFor() {
        Batch batch = new Batch(List.of(hasty));
        work.complete(List.of());
        assertThat(batch.bound(work)).isSameAs(work);
    }
}
