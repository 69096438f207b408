package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TrippingStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that wait for the lease of another. */
@Timeout(180)
class LeaseRequestTests {

    @RegisterExtension
    final LeasingInstances instances = new LeasingInstances();

    private final TestClock clock = instances.clock();

    private final TrippingStore trips = instances.trips();

    private final LeasingRateLimitStore store = instances.store();

    private CompletableFuture<Void> secondAnswer = new CompletableFuture<>();

    @Test
    void callsWaitForALeaseThatHasPermitsForThem() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        List<CompletableFuture<?>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                    .toStage()
                    .thenApply(StoreOutcome::decisions)
                    .toCompletableFuture());
        }
        assertThat(trips.asked()).as("one asks, four wait, one is too much").endsWith("1+2", "1+4", "1");
        answer.complete(null);
        assertThat(calls).allMatch(CompletableFuture::isDone);
        assertThat(trips.asked()).endsWith("1+2", "1+4", "1");
    }

    /** A caller that calls again as soon as the lease is there would take what the others wait for. */
    @Test
    void permitsAreThoseOfTheCallsThatWaitBeforeAnybodyElseTakesThem() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        List<CompletableFuture<RateLimitDecision>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(call(limit));
        }
        List<CompletableFuture<RateLimitDecision>> again = calls.stream()
                .map(call -> call.thenCompose(decision -> call(limit)))
                .toList();
        int asked = trips.asked().size();
        answer.complete(null);
        assertThat(calls).allMatch(call -> call.join().allowed());
        assertThat(again).allMatch(call -> call.join().allowed());
        assertThat(trips.asked().subList(asked, trips.asked().size()))
                .as("by those who call again")
                .containsExactly("1+32");
    }

    @Test
    void failureIsThatOfAllWhoWaitForTheLease() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        CompletionStage<?> asks = store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions);
        CompletionStage<?> waits = store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions);
        answer.completeExceptionally(new RateLimitStoreException(Reason.TIMEOUT, "late", null));
        assertThat(asks.toCompletableFuture()).isCompletedExceptionally();
        assertThat(waits.toCompletableFuture()).isCompletedExceptionally();
        trips.fail(true);
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> instances.take(limit, 1));
    }

    /** No call waits for a lease that could not even be asked for. */
    @Test
    void errorOfTheStoreIsThatOfTheCallAlone() {
        RateLimit limit = window("quotes", 1_000, 100);
        instances.takeSlowly(1 + 2 + 3, limit);
        trips.breakOnce(new StackOverflowError());
        assertThat(call(limit)).isCompletedExceptionally();
        assertThat(call(limit)).isCompleted();
    }

    /** The whole decision takes no longer than the timeout. */
    @Test
    void callThatHasWaitedInVainHasWhatIsLeftOfTheTimeForTheStore() throws Exception {
        CompletableFuture<?> waits = waitsInVainFor(Duration.ofMillis(60));
        clock.advance(Duration.ofMillis(39));
        instances.thread().turn();
        assertThat(waits).isNotDone();
        clock.advance(Duration.ofMillis(1));
        instances.thread().turn();
        assertThat(waits).isCompletedExceptionally();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(waits::join)
                .withCauseInstanceOf(RateLimitStoreException.class)
                .extracting(thrown -> ((RateLimitStoreException) thrown.getCause()).getReason())
                .isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void callThatTheStoreAnswersInTimeIsNotTooLate() {
        CompletableFuture<?> waits = waitsInVainFor(Duration.ofMillis(60));
        secondAnswer.complete(null);
        assertThat(waits).isCompleted();
        assertThat(instances.thread().pending()).isZero();
    }

    /** The store has less than was asked for: of two that wait for the lease, one asks by itself. */
    private CompletableFuture<?> waitsInVainFor(Duration time) {
        RateLimit limit = window("quotes", 10, 8);
        instances.takeSlowly(1 + 2 + 3, limit);
        CompletableFuture<Void> answer = trips.hold();
        List<CompletableFuture<?>> calls = List.of(call(limit), call(limit), call(limit));
        secondAnswer = trips.hold();
        clock.advance(time);
        answer.complete(null);
        List<CompletableFuture<?>> waiting =
                calls.stream().filter(call -> !call.isDone()).toList();
        assertThat(waiting).hasSize(1);
        return waiting.get(0);
    }

    private CompletableFuture<RateLimitDecision> call(RateLimit limit) {
        return store.decide(StoreRequest.of(List.of(new Charge(limit, "alice", 1))))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture()
                .thenApply(decisions -> decisions.get(0));
    }
}
