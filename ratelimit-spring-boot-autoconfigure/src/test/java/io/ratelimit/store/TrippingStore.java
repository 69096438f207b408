package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Remembers what it was asked for, each call in a word, and answers when and if it is told to. */
public class TrippingStore extends ForwardingStore {

    private final List<String> asked = new ArrayList<>();

    private CompletableFuture<Void> held = CompletableFuture.completedFuture(null);

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

    public void fail(boolean fails) {
        failing = fails;
    }

    /** Has the next question end so. */
    public void breakOnce(Error thrown) {
        error = thrown;
    }

    /** Has something happen before a bucket is forgotten. */
    void beforeReset(Runnable work) {
        meanwhile = work;
    }

    private synchronized CompletionStage<Void> ask(String what) {
        Error broken = error;
        if (broken != null) {
            error = null;
            throw broken;
        }
        if (failing) {
            throw new RateLimitStoreException(Reason.ERROR, "down", null);
        }
        asked.add(what);
        CompletionStage<Void> answer = held;
        held = CompletableFuture.completedFuture(null);
        return answer;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return decideAsync(charges).toCompletableFuture().join();
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return ask("" + charges.get(0).permits()).thenCompose(now -> super.decideAsync(charges));
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return ask("" + charges.get(0).permits()).thenCompose(now -> super.decideRefundably(charges));
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        return ask(charge.permits() + "+" + more).thenCompose(now -> super.lease(charge, more));
    }

    @Override
    public void reset(RateLimit limit, String key) {
        meanwhile.run();
        super.reset(limit, key);
    }
}
