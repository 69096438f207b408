package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

/** Answers without blocking, when it is told to and on the thread that tells it; refunds are alike. */
public final class HeldStore implements RateLimitStore {

    private final RateLimitStore answers;

    private final Queue<CompletableFuture<Void>> held = new ConcurrentLinkedQueue<>();

    public HeldStore(RateLimitStore answers) {
        this.answers = answers;
    }

    /** Answers all that have asked so far. */
    public void answer() {
        List<CompletableFuture<Void>> asked =
                Stream.generate(held::poll).limit(held.size()).toList();
        asked.forEach(next -> next.complete(null));
    }

    /** Answers on a thread of that name, and waits until it has. */
    public void answerOn(String thread) {
        Thread store = new Thread(this::answer, thread);
        store.start();
        try {
            store.join();
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** How many have asked and wait for the answer. */
    public int waiting() {
        return held.size();
    }

    private CompletableFuture<Void> hold() {
        CompletableFuture<Void> next = new CompletableFuture<>();
        held.add(next);
        return next;
    }

    /** A caller that blocks is not held. */
    @Override
    public StoreAnswer decide(StoreRequest request) {
        return StoreAnswer.of(
                () -> answers.decide(request).await(),
                () -> hold().thenCompose(now -> answers.decide(request).toStage())
                        .thenApply(outcome -> outcome.mapRefund(
                                refund -> permits -> hold().thenCompose(now -> refund.refund(permits)))));
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        return answers.change(limit, key, change);
    }
}
