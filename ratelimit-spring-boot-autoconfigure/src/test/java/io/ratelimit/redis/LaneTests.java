package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.TestLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that arrive while a script is on its way are decided by the next. */
@Timeout(60)
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class LaneTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 1_000, "10/s");

    private final HeldScripts scripts = new HeldScripts();

    private final RateLimitStore store = store(Duration.ofHours(1));

    private RateLimitStore store(Duration timeout) {
        return new RedisRateLimitStore(new GuardedRedis(scripts, timeout, "test"), "test");
    }

    /** Scripts that are answered when the test says so: what remains is the number of the permits asked for. */
    private static final class HeldScripts implements RateLimitScriptExecutor {

        private final List<Run> runs = new ArrayList<>();

        private boolean clustered;

        private boolean answersAtOnce;

        private Error error;

        private record Run(List<String> keys, String codes, List<String> permits, CompletableFuture<List<Long>> reply) {

            void answer() {
                reply.complete(permits.stream()
                        .flatMap(permit -> List.of(Long.parseLong(permit), 0L, 0L, 0L).stream())
                        .toList());
            }

            boolean isCancelled() {
                return reply.isCancelled();
            }
        }

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            if (error != null) {
                throw error;
            }
            Run run = new Run(
                    keys.stream().map(HeldScripts::text).toList(),
                    text(arguments[0]),
                    IntStream.range(0, keys.size())
                            .mapToObj(i -> text(arguments[2 + 2 * i]))
                            .toList(),
                    new CompletableFuture<>());
            runs.add(run);
            if (answersAtOnce) {
                run.answer();
            }
            return run.reply;
        }

        private static String text(byte[] bytes) {
            return new String(bytes, StandardCharsets.US_ASCII);
        }

        @Override
        public CompletionStage<?> delete(byte[] key) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public boolean isClustered() {
            return clustered;
        }

        Run run(int number) {
            return runs.get(number);
        }
    }

    private CompletableFuture<RateLimitDecision> ask(RateLimitStore asked, String key, long permits) {
        return asked.decideAsync(List.of(new Charge(QUOTES, key, permits)))
                .thenApply(decisions -> decisions.get(0))
                .toCompletableFuture();
    }

    private CompletableFuture<RateLimitDecision> ask(long permits) {
        return ask(store, "alice", permits);
    }

    @Test
    void callThatIsAloneWaitsForNobody() {
        CompletableFuture<RateLimitDecision> first = ask(1);
        assertThat(scripts.runs).hasSize(1);
        scripts.run(0).answer();
        assertThat(first).isCompleted();
        ask(2);
        assertThat(scripts.runs).hasSize(2);
        assertThat(scripts.run(1).permits()).containsExactly("2");
    }

    @Test
    void thoseWhoArriveMeanwhileAreDecidedTogetherAndInTheirOrder() {
        ask(1);
        List<CompletableFuture<RateLimitDecision>> later = List.of(ask(2), ask(store, "bob", 3), ask(4));
        assertThat(scripts.runs).hasSize(1);
        scripts.run(0).answer();
        assertThat(scripts.runs).hasSize(2);
        assertThat(scripts.run(1).permits()).containsExactly("2", "3", "4");
        assertThat(scripts.run(1).keys())
                .containsExactly("test:{alice}:quotes", "test:{bob}:quotes", "test:{alice}:quotes");
        assertThat(scripts.run(1).codes()).isEqualTo("111");
        assertThat(later).noneMatch(CompletableFuture::isDone);
        scripts.run(1).answer();
        assertThat(later.stream().map(call -> call.join().remaining())).containsExactly(2L, 3L, 4L);
    }

    @Test
    void nextScriptLeavesBeforeThoseOfTheLastAreTold() {
        List<Integer> runsWhenTold = new ArrayList<>();
        ask(1).thenRun(() -> runsWhenTold.add(scripts.runs.size()));
        ask(2);
        scripts.run(0).answer();
        assertThat(runsWhenTold).containsExactly(2);
    }

    @Test
    void whoeverIsToldMayAskAgain() {
        CompletableFuture<RateLimitDecision> again = ask(1).thenCompose(told -> ask(2));
        scripts.run(0).answer();
        scripts.run(1).answer();
        assertThat(again.join().remaining()).isEqualTo(2);
    }

    @Test
    void severalLimitsOfACallStayTogether() {
        RateLimit orders = TestLimits.tokenBucket("orders", 5, "1/s");
        ask(1);
        CompletableFuture<List<RateLimitDecision>> two = store.decideAsync(
                        List.of(new Charge(QUOTES, "alice", 2), new Charge(orders, "alice", 3)))
                .toCompletableFuture();
        CompletableFuture<RateLimitDecision> last = ask(4);
        scripts.run(0).answer();
        assertThat(scripts.run(1).codes()).isEqualTo("1+1");
        scripts.run(1).answer();
        assertThat(two.join().stream().map(RateLimitDecision::remaining)).containsExactly(2L, 3L);
        assertThat(last.join().remaining()).isEqualTo(4);
    }

    @Test
    void scriptHasAnEnd() {
        ask(1);
        List<CompletableFuture<RateLimitDecision>> later =
                IntStream.range(0, 300).mapToObj(i -> ask(i)).toList();
        for (int run = 0; run < 4; run++) {
            scripts.run(run).answer();
        }
        assertThat(scripts.runs.stream().map(run -> run.permits().size())).containsExactly(1, 128, 128, 44);
        assertThat(later.stream().map(call -> call.join().remaining()).toList())
                .isEqualTo(IntStream.range(0, 300).mapToObj(i -> (long) i).toList());
    }

    @Test
    void answersThatAreThereAtOnceDoNotPileUp() {
        ask(1);
        List<CompletableFuture<RateLimitDecision>> later =
                IntStream.range(0, 100_000).mapToObj(i -> ask(i)).toList();
        scripts.answersAtOnce = true;
        scripts.run(0).answer();
        assertThat(later).allMatch(CompletableFuture::isDone);
    }

    @Test
    void failureIsThatOfAllWhoWereAskedAboutAndOfNobodyElse() {
        ask(1);
        List<CompletableFuture<RateLimitDecision>> failed = List.of(ask(2), ask(3));
        scripts.run(0).answer();
        CompletableFuture<RateLimitDecision> later = ask(4);
        scripts.run(1).reply().completeExceptionally(new IllegalStateException("OOM command not allowed"));
        failed.forEach(call -> assertThat(reasonOf(call)).isEqualTo(Reason.OUT_OF_MEMORY));
        assertThat(later).isCompletedExceptionally();
        assertThat(reasonOf(later)).isEqualTo(Reason.SHORT_CIRCUITED);
    }

    @Test
    void replyThatIsTooShortFailsThoseWhoAreNotInIt() {
        ask(1);
        CompletableFuture<RateLimitDecision> told = ask(2);
        CompletableFuture<RateLimitDecision> untold = ask(3);
        scripts.run(0).answer();
        scripts.run(1).reply().complete(List.of(2L, 0L, 0L, 0L));
        assertThat(told.join().remaining()).isEqualTo(2);
        assertThat(reasonOf(untold)).isEqualTo(Reason.ERROR);
    }

    @Test
    void foreignValueIsTheFailureOfItsCallOnly() {
        ask(1);
        CompletableFuture<RateLimitDecision> foreign = ask(2);
        CompletableFuture<RateLimitDecision> told = ask(3);
        scripts.run(0).answer();
        scripts.run(1).reply().complete(List.of(-1L, -1L, -1L, -1L, 3L, 0L, 0L, 0L));
        assertThat(reasonOf(foreign)).isEqualTo(Reason.FOREIGN_VALUE);
        assertThat(told.join().remaining()).isEqualTo(3);
    }

    @Test
    void everybodyWaitsAsLongAsHeWouldAlone() {
        RateLimitStore hasty = store(Duration.ofMillis(50));
        CompletableFuture<RateLimitDecision> first = ask(hasty, "alice", 1);
        CompletableFuture<RateLimitDecision> second = ask(hasty, "alice", 2);
        assertThat(reasonOf(first)).isEqualTo(Reason.TIMEOUT);
        await().until(scripts.run(0)::isCancelled);
        assertThat(reasonOf(second)).isIn(Reason.SHORT_CIRCUITED, Reason.TIMEOUT);
        assertThat(scripts.runs.stream().filter(run -> run.permits().contains("2")))
                .as("sent to a server that does not answer")
                .isEmpty();
    }

    @Test
    void errorIsThatOfWhoeverMetItAndTheNextGoOn() {
        scripts.error = new StackOverflowError();
        assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> ask(1));
        scripts.error = null;
        CompletableFuture<RateLimitDecision> later = ask(2);
        scripts.run(0).answer();
        assertThat(later).isCompleted();
    }

    @Test
    void valueThatTheScriptCannotTakeFailsItsCallOnly() {
        ask(1);
        CompletableFuture<RateLimitDecision> poisoned = ask(2);
        CompletableFuture<RateLimitDecision> well = ask(3);
        scripts.run(0).answer();
        IllegalStateException failure = new IllegalStateException("ERR user_script:7: attempt to index a nil value");
        scripts.run(1).reply().completeExceptionally(failure);
        scripts.run(2).reply().completeExceptionally(failure);
        scripts.run(3).answer();
        assertThat(reasonOf(poisoned)).isEqualTo(Reason.ERROR);
        assertThat(well.join().remaining()).isEqualTo(3);
    }

    @Test
    void slotsOfAClusterDoNotWaitForEachOther() {
        scripts.clustered = true;
        ask(store, "alice", 1);
        ask(store, "bob", 2);
        ask(store, "alice", 3);
        assertThat(scripts.runs.stream().map(HeldScripts.Run::permits)).containsExactly(List.of("1"), List.of("2"));
        scripts.run(0).answer();
        assertThat(scripts.run(2).permits()).containsExactly("3");
    }

    @Test
    void whatWasNotKnownToBeAClusterIsOne() {
        ask(store, "alice", 1);
        CompletableFuture<RateLimitDecision> alice = ask(store, "alice", 2);
        CompletableFuture<RateLimitDecision> bob = ask(store, "bob", 3);
        scripts.clustered = true;
        scripts.run(0).answer();
        assertThat(scripts.runs.stream().map(HeldScripts.Run::permits))
                .containsExactly(List.of("1"), List.of("2"), List.of("3"));
        scripts.run(1).answer();
        scripts.run(2).answer();
        assertThat(alice).isCompleted();
        assertThat(bob).isCompleted();
    }

    @Test
    void callsOfASlotThatIsOnItsWayToAnotherNodeAreAskedAboutOneByOne() {
        scripts.clustered = true;
        ask(1);
        List<CompletableFuture<RateLimitDecision>> moving = List.of(ask(2), ask(3));
        scripts.run(0).answer();
        scripts.run(1)
                .reply()
                .completeExceptionally(new IllegalStateException("TRYAGAIN Multiple keys request during rehashing"));
        assertThat(scripts.runs.stream().skip(2).map(HeldScripts.Run::permits))
                .containsExactly(List.of("2"), List.of("3"));
        scripts.run(2).answer();
        scripts.run(3).answer();
        assertThat(moving.stream().map(call -> call.join().remaining())).containsExactly(2L, 3L);
    }

    private static Reason reasonOf(CompletableFuture<?> call) {
        CompletionException thrown = catchThrowableOfType(CompletionException.class, call::join);
        return ((RateLimitStoreException) thrown.getCause()).getReason();
    }
}
