package io.ratelimit.test.context;

import io.ratelimit.spi.Waiter;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Moves the clock instead of waiting. */
record ClockMovingWaiter(MutableTimeSource time) implements Waiter {

    @Override
    public void await(Duration delay) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        time.advance(delay);
    }

    @Override
    public CompletionStage<Void> awaitAsync(Duration delay) {
        time.advance(delay);
        return CompletableFuture.completedFuture(null);
    }
}
