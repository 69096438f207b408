package io.ratelimit.simulation;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.simulation.SimulatedNetwork.State;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** A server without Redis, as one instance sees it: a store in memory behind a network. A refund that fails is
 * repeated in the background. */
final class SlowStore extends DelegatingRateLimitStore {

    private final SimulatedTime time;

    private final Random random;

    private State state = State.WELL;

    SlowStore(RateLimitStore server, SimulatedTime time, Random random) {
        super(server);
        this.time = time;
        this.random = random;
    }

    void setState(State next) {
        state = next;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        return StoreAnswer.of(() -> through(() -> CompletableFuture.completedFuture(
                        store().decide(request).await()))
                .thenApply(outcome -> outcome.mapRefund(this::slow)));
    }

    private Refund slow(Refund refund) {
        return permits -> arriving(() -> refund.refund(permits));
    }

    private CompletionStage<Void> arriving(Supplier<CompletionStage<Void>> work) {
        return through(work).whenComplete((done, thrown) -> {
            if (thrown != null) {
                time.after(SimulatedNetwork.TIMEOUT, () -> {
                    var unused = arriving(work);
                });
            }
        });
    }

    private <T> CompletionStage<T> through(Supplier<CompletionStage<T>> work) {
        return switch (state) {
            case WELL -> Futures.start(work);
            case LATE ->
                after(delay())
                        .thenCompose(there -> work.get())
                        .thenCompose(answer -> after(delay()).thenApply(here -> answer));
            case HANGS, LOSES_REPLIES -> after(SimulatedNetwork.TIMEOUT).thenCompose(over -> failure());
            case CUT -> failure();
        };
    }

    private CompletableFuture<Void> after(Duration delay) {
        CompletableFuture<Void> over = new CompletableFuture<>();
        time.after(delay, () -> over.complete(null));
        return over;
    }

    private Duration delay() {
        return Duration.ofMillis(1 + random.nextInt(40));
    }

    private static <T> CompletableFuture<T> failure() {
        return CompletableFuture.failedFuture(new RateLimitStoreException(Reason.TIMEOUT, "simulated", null));
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return false;
    }
}
