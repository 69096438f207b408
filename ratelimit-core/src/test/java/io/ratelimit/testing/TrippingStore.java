package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.store.BucketUnchangedException;
import io.ratelimit.internal.store.DelegatingRateLimitStore;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Remembers what it was asked for, each call in a word, and answers when and if it is told to. */
public class TrippingStore extends DelegatingRateLimitStore {

    private final List<String> asked = new ArrayList<>();

    private CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

    private volatile CompletableFuture<Void> heldRefunds = CompletableFuture.completedFuture(null);

    private volatile boolean failing;

    private @Nullable Error error;

    private Runnable meanwhile = () -> {};

    public TrippingStore(RateLimitStore store) {
        super(store);
    }

    public synchronized List<String> asked() {
        return List.copyOf(asked);
    }

    /** Has the next answer wait. */
    public CompletableFuture<Void> hold() {
        held = new CompletableFuture<>();
        return held;
    }

    /** Has refunds wait. */
    public CompletableFuture<Void> holdRefunds() {
        heldRefunds = new CompletableFuture<>();
        return heldRefunds;
    }

    public void fail(boolean fails) {
        failing = fails;
    }

    /** Has the next question end so. */
    public void breakOnce(Error thrown) {
        error = thrown;
    }

    /** Has something happen before a bucket is forgotten. */
    public void beforeReset(Runnable work) {
        meanwhile = work;
    }

    private synchronized CompletionStage<Void> ask(String what) {
        Error broken = error;
        if (broken != null) {
            error = null;
            throw broken;
        }
        if (failing) {
            throw down();
        }
        asked.add(what);
        CompletionStage<Void> answer = held;
        held = CompletableFuture.completedFuture(null);
        return answer;
    }

    private static RateLimitStoreException down() {
        return new RateLimitStoreException(Reason.ERROR, "down", null);
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (request.isPeek()) {
            return super.decide(request);
        }
        return StoreAnswer.of(() -> ask(request).toCompletableFuture().join(), () -> ask(request));
    }

    private CompletionStage<StoreOutcome> ask(StoreRequest request) {
        String more = request.more() > 0 ? "+" + request.more() : "";
        return ask(request.charges().get(0).permits() + more)
                .thenCompose(now -> super.decide(request).toStage())
                .thenApply(outcome ->
                        outcome.mapRefund(refund -> permits -> heldRefunds.thenCompose(now -> refund.refund(permits))));
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        if (change.equals(BucketChange.RESET)) {
            meanwhile.run();
        }
        if (failing && change.kind() != BucketChange.Kind.NONE) {
            return CompletableFuture.failedFuture(new BucketUnchangedException(down()));
        }
        return super.change(limit, key, change);
    }
}
