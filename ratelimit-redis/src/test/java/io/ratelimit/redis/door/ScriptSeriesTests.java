package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ScriptSeriesTests {

    private final List<Integer> sent = new ArrayList<>();

    private final List<CompletableFuture<Void>> replies = new ArrayList<>();

    private CompletableFuture<Void> send(Integer script) {
        sent.add(script);
        replies.add(new CompletableFuture<>());
        return replies.get(replies.size() - 1);
    }

    @Test
    void eachReplySendsTheNextScript() {
        CompletableFuture<Void> all = ScriptSeries.send(List.of(1, 2, 3, 4), 2, true, this::send);
        assertThat(sent).containsExactly(1, 2);
        replies.get(1).complete(null);
        assertThat(sent).containsExactly(1, 2, 3);
        replies.get(2).complete(null);
        assertThat(sent).containsExactly(1, 2, 3, 4);
        replies.get(3).complete(null);
        assertThat(all).isNotDone();
        replies.get(0).complete(null);
        assertThat(all).isCompleted();
    }

    @Test
    void failureIsKnownWhenTheOthersAreDone() {
        CompletableFuture<Void> all = ScriptSeries.send(List.of(1, 2), 1, true, this::send);
        replies.get(0).completeExceptionally(new IllegalStateException());
        assertThat(sent).containsExactly(1, 2);
        assertThat(all).isNotDone();
        replies.get(1).complete(null);
        assertThat(all).isCompletedExceptionally();
    }

    @Test
    void nothingIsSentAfterAFailureIfOthersWouldFailToo() {
        CompletableFuture<Void> all = ScriptSeries.send(List.of(1, 2), 1, false, this::send);
        replies.get(0).completeExceptionally(new IllegalStateException());
        assertThat(sent).containsExactly(1);
        assertThat(all).isCompletedExceptionally();
    }

    @Test
    void nothingIsSentAfterAnErrorAtOnceIfOthersWouldFailToo() {
        CompletableFuture<Void> all = ScriptSeries.send(List.of(1, 2), 1, false, script -> {
            sent.add(script);
            throw new StackOverflowError();
        });
        assertThat(sent).containsExactly(1);
        assertThat(all).isCompletedExceptionally();
    }

    @Test
    void thousandsThatFailAtOnceAreAllSent() {
        List<Integer> scripts = IntStream.range(0, 100_000).boxed().toList();
        CompletableFuture<Void> all = ScriptSeries.send(scripts, 8, true, script -> {
            sent.add(script);
            return CompletableFuture.failedFuture(new IllegalStateException());
        });
        assertThat(sent).isEqualTo(scripts);
        assertThat(all).isCompletedExceptionally();
    }

    @Test
    void noScriptsAreDoneAtOnce() {
        assertThat(ScriptSeries.send(List.of(), 8, true, this::send)).isCompleted();
    }
}
