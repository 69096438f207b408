package io.ratelimit.testing;

import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers how long it was to wait, and does not. */
public class RecordingWaiter implements Waiter {

    private final List<Duration> delays = new CopyOnWriteArrayList<>();

    @Override
    public void await(Duration delay) {
        delays.add(delay);
    }

    @Override
    public CompletionStage<Void> awaitAsync(Duration delay) {
        delays.add(delay);
        return CompletableFuture.completedFuture(null);
    }

    public List<Duration> delays() {
        return delays;
    }
}
