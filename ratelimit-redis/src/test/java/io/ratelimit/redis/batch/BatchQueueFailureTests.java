package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.HeldScripts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which calls a failed script concerns, and which it does not. */
@Timeout(180)
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class BatchQueueFailureTests {

    private final HeldScripts scripts = new HeldScripts();

    private final BatchQueueCaller caller = new BatchQueueCaller(scripts);

    @Test
    void failureIsThatOfAllWhoWereAskedAboutAndOfNobodyElse() {
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> failed = List.of(caller.ask(2), caller.ask(3));
        scripts.run(0).answer();
        CompletableFuture<RateLimitDecision> later = caller.ask(4);
        scripts.run(1).reply().completeExceptionally(new IllegalStateException("OOM command not allowed"));
        failed.forEach(call -> assertThat(BatchQueueCaller.reasonOf(call)).isEqualTo(Reason.OUT_OF_MEMORY));
        assertThat(later).isCompletedExceptionally();
        assertThat(BatchQueueCaller.reasonOf(later)).isEqualTo(Reason.SHORT_CIRCUITED);
    }

    @Test
    void replyThatIsTooShortFailsThoseWhoAreNotInIt() {
        caller.ask(1);
        CompletableFuture<RateLimitDecision> told = caller.ask(2);
        CompletableFuture<RateLimitDecision> untold = caller.ask(3);
        scripts.run(0).answer();
        scripts.run(1).reply().complete(List.of(2L, 0L, 0L, 0L));
        assertThat(told.join().remaining()).isEqualTo(2);
        assertThat(BatchQueueCaller.reasonOf(untold)).isEqualTo(Reason.ERROR);
    }

    @Test
    void foreignValueIsTheFailureOfItsCallOnly() {
        caller.ask(1);
        CompletableFuture<RateLimitDecision> foreign = caller.ask(2);
        CompletableFuture<RateLimitDecision> told = caller.ask(3);
        scripts.run(0).answer();
        scripts.run(1).reply().complete(List.of(-1L, -1L, -1L, -1L, 3L, 0L, 0L, 0L));
        assertThat(BatchQueueCaller.reasonOf(foreign)).isEqualTo(Reason.FOREIGN_VALUE);
        assertThat(told.join().remaining()).isEqualTo(3);
    }

    @Test
    void everybodyWaitsAsLongAsHeWouldAlone() {
        BatchQueueCaller hasty = new BatchQueueCaller(scripts, Duration.ofMillis(500));
        CompletableFuture<RateLimitDecision> first = hasty.ask("alice", 1);
        CompletableFuture<RateLimitDecision> second = hasty.ask("alice", 2);
        assertThat(BatchQueueCaller.reasonOf(first)).isEqualTo(Reason.TIMEOUT);
        await().until(scripts.run(0)::isCancelled);
        assertThat(BatchQueueCaller.reasonOf(second)).isIn(Reason.SHORT_CIRCUITED, Reason.TIMEOUT);
        assertThat(scripts.runs().stream().filter(run -> run.permits().contains("2")))
                .as("sent to a server that does not answer")
                .isEmpty();
    }

    @Test
    void errorIsTheFailureOfThoseWhoWereAskedAboutAndTheNextGoOn() {
        scripts.failWith(new StackOverflowError());
        assertThat(BatchQueueCaller.reasonOf(caller.ask(1))).isEqualTo(Reason.ERROR);
        scripts.failWith(null);
        CompletableFuture<RateLimitDecision> later = caller.ask(2);
        scripts.run(0).answer();
        assertThat(later).isCompleted();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ERR RATELIMIT_UNCHARGED user_script:7: ", "ERR RATELIMIT_UNCHARGED user_function:7: "})
    void valueThatTheScriptCannotTakeFailsItsCallOnly(String place) {
        caller.ask(1);
        CompletableFuture<RateLimitDecision> poisoned = caller.ask(2);
        CompletableFuture<RateLimitDecision> well = caller.ask(3);
        scripts.run(0).answer();
        IllegalStateException failure = new IllegalStateException(place + "attempt to index a nil value");
        scripts.run(1).reply().completeExceptionally(failure);
        scripts.run(2).reply().completeExceptionally(failure);
        scripts.run(3).answer();
        assertThat(BatchQueueCaller.reasonOf(poisoned)).isEqualTo(Reason.ERROR);
        assertThat(well.join().remaining()).isEqualTo(3);
    }

    /** Some of its calls may have been charged. */
    @Test
    void scriptThatFailsWhileItWritesIsNotSentAgain() {
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> later = List.of(caller.ask(2), caller.ask(3));
        scripts.run(0).answer();
        scripts.run(1)
                .reply()
                .completeExceptionally(
                        new IllegalStateException("ERR invalid expire time" + " script: f_run, on @user_function:99."));
        assertThat(scripts.runs()).hasSize(2);
        assertThat(later)
                .allSatisfy(call -> assertThat(BatchQueueCaller.reasonOf(call)).isEqualTo(Reason.ERROR));
    }
}
