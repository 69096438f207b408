package io.ratelimit.redis.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.redis.HeldScripts;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that arrive while a script is on its way are decided by the next. */
@Timeout(180)
@SuppressWarnings("FutureReturnValueIgnored") // What is sent counts, or what becomes of others.
class BatchQueueTests {

    private final HeldScripts scripts = new HeldScripts();

    private final BatchQueueCaller caller = new BatchQueueCaller(scripts);

    @Test
    void callThatIsAloneWaitsForNobody() {
        CompletableFuture<RateLimitDecision> first = caller.ask(1);
        assertThat(scripts.runs()).hasSize(1);
        scripts.run(0).answer();
        assertThat(first).isCompleted();
        caller.ask(2);
        assertThat(scripts.runs()).hasSize(2);
        assertThat(scripts.run(1).permits()).containsExactly("2");
    }

    @Test
    void thoseWhoArriveMeanwhileAreDecidedTogetherAndInTheirOrder() {
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> later = List.of(caller.ask(2), caller.ask("bob", 3), caller.ask(4));
        assertThat(scripts.runs()).hasSize(1);
        scripts.run(0).answer();
        assertThat(scripts.runs()).hasSize(2);
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
        caller.ask(1).thenRun(() -> runsWhenTold.add(scripts.runs().size()));
        caller.ask(2);
        scripts.run(0).answer();
        assertThat(runsWhenTold).containsExactly(2);
    }

    @Test
    void whoeverIsToldMayAskAgain() {
        CompletableFuture<RateLimitDecision> again = caller.ask(1).thenCompose(told -> caller.ask(2));
        scripts.run(0).answer();
        scripts.run(1).answer();
        assertThat(again.join().remaining()).isEqualTo(2);
    }

    @Test
    void severalLimitsOfACallStayTogether() {
        RateLimit orders = TestLimits.tokenBucket("orders", 5, "1/s");
        caller.ask(1);
        CompletableFuture<List<RateLimitDecision>> two = caller.store()
                .decide(StoreRequest.of(
                        List.of(new Charge(BatchQueueCaller.QUOTES, "alice", 2), new Charge(orders, "alice", 3))))
                .toStage()
                .thenApply(StoreOutcome::decisions)
                .toCompletableFuture();
        CompletableFuture<RateLimitDecision> last = caller.ask(4);
        scripts.run(0).answer();
        assertThat(scripts.run(1).codes()).isEqualTo("1+1");
        scripts.run(1).answer();
        assertThat(two.join().stream().map(RateLimitDecision::remaining)).containsExactly(2L, 3L);
        assertThat(last.join().remaining()).isEqualTo(4);
    }

    @Test
    void scriptHasAnEnd() {
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> later =
                IntStream.range(0, 300).mapToObj(i -> caller.ask(i)).toList();
        for (int run = 0; run < 4; run++) {
            scripts.run(run).answer();
        }
        assertThat(scripts.runs().stream().map(run -> run.permits().size())).containsExactly(1, 128, 128, 44);
        assertThat(later.stream().map(call -> call.join().remaining()).toList())
                .isEqualTo(IntStream.range(0, 300).mapToObj(i -> (long) i).toList());
    }

    /** Its search takes the server longer than a few numbers do. */
    @Test
    void scriptIsFilledByWhatCallsWeigh() {
        RateLimit log = RateLimit.named("log")
                .algorithm(Algorithm.SLIDING_WINDOW_LOG)
                .capacity(1_000)
                .rate("1000/h")
                .build();
        caller.ask(1);
        for (int i = 0; i < 40; i++) {
            caller.store()
                    .decide(StoreRequest.of(List.of(new Charge(log, "alice", 1))))
                    .toStage()
                    .thenApply(StoreOutcome::decisions);
        }
        for (int i = 0; i < 10; i++) {
            caller.ask(2);
        }
        scripts.run(0).answer();
        scripts.run(1).answer();
        assertThat(scripts.runs().stream().map(run -> run.codes().length())).containsExactly(1, 32, 18);
    }

    @Test
    void answersThatAreThereAtOnceDoNotPileUp() {
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> later =
                IntStream.range(0, 100_000).mapToObj(i -> caller.ask(i)).toList();
        scripts.answerAtOnce();
        for (int run = 0; run < 4; run++) {
            scripts.run(run).answer();
        }
        assertThat(later).allMatch(CompletableFuture::isDone);
    }

    @Test
    void slotsOfAClusterDoNotWaitForEachOther() {
        scripts.becomeCluster();
        caller.ask("alice", 1);
        caller.ask("bob", 2);
        caller.ask("alice", 3);
        assertThat(scripts.runs().stream().map(HeldScripts.Run::permits)).containsExactly(List.of("1"), List.of("2"));
        scripts.run(0).answer();
        assertThat(scripts.run(2).permits()).containsExactly("3");
    }

    @Test
    void whatWasNotKnownToBeAClusterIsOne() {
        caller.ask("alice", 1);
        CompletableFuture<RateLimitDecision> alice = caller.ask("alice", 2);
        CompletableFuture<RateLimitDecision> bob = caller.ask("bob", 3);
        scripts.becomeCluster();
        scripts.run(0).answer();
        assertThat(scripts.runs().stream().map(HeldScripts.Run::permits))
                .containsExactly(List.of("1"), List.of("2"), List.of("3"));
        scripts.run(1).answer();
        scripts.run(2).answer();
        assertThat(alice).isCompleted();
        assertThat(bob).isCompleted();
    }

    @Test
    void callsOfASlotThatIsOnItsWayToAnotherNodeAreAskedAboutOneByOne() {
        scripts.becomeCluster();
        caller.ask(1);
        List<CompletableFuture<RateLimitDecision>> moving = List.of(caller.ask(2), caller.ask(3));
        scripts.run(0).answer();
        scripts.run(1)
                .reply()
                .completeExceptionally(new IllegalStateException("TRYAGAIN Multiple keys request during rehashing"));
        assertThat(scripts.runs().stream().skip(2).map(HeldScripts.Run::permits))
                .containsExactly(List.of("2"), List.of("3"));
        scripts.run(2).answer();
        scripts.run(3).answer();
        assertThat(moving.stream().map(call -> call.join().remaining())).containsExactly(2L, 3L);
    }
}
