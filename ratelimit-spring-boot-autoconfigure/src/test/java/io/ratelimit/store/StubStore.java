package io.ratelimit.store;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;

/** Answers what it has been told to, or fails. */
public final class StubStore implements RateLimitStore {

    private final List<List<Charge>> asked = new CopyOnWriteArrayList<>();

    private final List<List<Charge>> givenBack = new CopyOnWriteArrayList<>();

    private List<RateLimitDecision> answers = List.of();

    private RuntimeException failure;

    private boolean failsAtOnce;

    public void answer(RateLimitDecision... decisions) {
        answers = List.of(decisions);
        failure = null;
    }

    public void fail(RuntimeException with) {
        failure = with;
        failsAtOnce = false;
    }

    /** Does not even return a stage that fails later. */
    public void failAtOnce(RuntimeException with) {
        failure = with;
        failsAtOnce = true;
    }

    /** What it was asked to charge or forget. */
    public List<List<Charge>> asked() {
        return asked;
    }

    /** What it was asked to give back. */
    public List<List<Charge>> givenBack() {
        return givenBack;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        asked.add(charges);
        if (failure != null) {
            throw failure;
        }
        return answers;
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        if (failure != null && !failsAtOnce) {
            asked.add(charges);
            return CompletableFuture.failedFuture(failure);
        }
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        return decideAsync(charges).thenApply(decisions -> new RefundableDecisions(decisions, this::refund));
    }

    private CompletionStage<Void> refund(List<Charge> charges) {
        givenBack.add(charges);
        return failure == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure);
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return decide(List.of(charge)).get(0);
    }

    @Override
    public void reset(RateLimit limit, String key) {
        decide(List.of(new Charge(limit, key, 0)));
    }
}
