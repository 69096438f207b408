package io.ratelimit.internal.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class FuturesTests {

    private final IllegalStateException failure = new IllegalStateException();

    @Test
    void startedWorkIsReturned() {
        CompletableFuture<String> work = new CompletableFuture<>();

        assertThat(Futures.start(() -> work)).isSameAs(work);
    }

    @Test
    void errorAtTheStartIsTheOutcome() {
        Error error = new StackOverflowError();

        assertThat(Futures.start(() -> {
                    throw error;
                }))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCause(error);
    }

    @Test
    void failureIsUnwrapped() {
        assertThat(Futures.unwrap(new CompletionException(failure))).isSameAs(failure);
        assertThat(Futures.unwrap(failure)).isSameAs(failure);
    }

    @Test
    void wrapperWithoutCauseIsItself() {
        CompletionException bare = new CompletionException((Throwable) null);

        assertThat(Futures.unwrap(bare)).isSameAs(bare);
    }

    @Test
    void failureIsWrappedOnce() {
        CompletionException wrapped = Futures.wrap(failure);

        assertThat(wrapped).hasCause(failure);
        assertThat(Futures.wrap(wrapped)).isSameAs(wrapped);
    }
}
