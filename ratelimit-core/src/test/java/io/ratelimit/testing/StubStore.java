package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreAnswer;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** Answers what it has been told to, or fails. */
public final class StubStore implements RateLimitStore {

    private final List<List<Charge>> asked = new CopyOnWriteArrayList<>();

    private final List<List<Charge>> refunded = new CopyOnWriteArrayList<>();

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

    /** What it was asked to refund. */
    public List<List<Charge>> refunded() {
        return refunded;
    }

    @Override
    public StoreAnswer decide(StoreRequest request) {
        if (failsAtOnce) {
            ask(request.charges());
        }
        return StoreAnswer.of(() -> decided(request), () -> answer(request.charges(), () -> decided(request)));
    }

    private StoreOutcome decided(StoreRequest request) {
        ask(request.charges());
        StoreOutcome outcome = StoreOutcome.of(request, answers, request.refundable() ? this::refund : Refund.NONE);
        return request.more() > 0
                ? outcome.with(new Lease(request.more(), permits -> refunded(request.charges())))
                : outcome;
    }

    private void ask(List<Charge> charges) {
        asked.add(charges);
        if (failure != null) {
            throw failure;
        }
    }

    private <T> CompletionStage<T> answer(List<Charge> charges, Supplier<T> answer) {
        if (failure != null && !failsAtOnce) {
            asked.add(charges);
            return CompletableFuture.failedFuture(failure);
        }
        return CompletableFuture.completedFuture(answer.get());
    }

    private CompletionStage<Void> refund(Map<Charge, Long> permits) {
        return refunded(List.copyOf(permits.keySet()));
    }

    private CompletionStage<Void> refunded(List<Charge> charges) {
        refunded.add(charges);
        return failure == null ? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        List<Charge> charges = List.of(charge);
        return answer(charges, () -> {
            ask(charges);
            return null;
        });
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        List<Charge> bucket = List.of(new Charge(limit, key, 0));
        return answer(bucket, () -> {
            ask(bucket);
            return null;
        });
    }
}
