package io.ratelimit.spi;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Tells what a store has decided and charged. */
public final class StoreOutcome implements StoreAnswer {

    static {
        // The compiler inlines no constructor with a parameter of a class that is not loaded, and would create each
        // outcome.
        var unused = Lease.class;
    }

    private final StoreRequest request;

    private final RateLimitDecision first;

    /** {@code null}: the first is the only one, and nothing has asked for the list. */
    private @Nullable List<RateLimitDecision> decisions;

    private final Refund refund;

    private final @Nullable Lease lease;

    private StoreOutcome(
            StoreRequest request,
            RateLimitDecision first,
            @Nullable List<RateLimitDecision> decisions,
            Refund refund,
            @Nullable Lease lease) {
        this.request = request;
        this.first = first;
        this.decisions = decisions;
        this.refund = refund;
        this.lease = lease;
    }

    /** Returns the outcome for a single charge that cannot be refunded. */
    public static StoreOutcome of(StoreRequest request, RateLimitDecision decision) {
        return new StoreOutcome(request, decision, null, Refund.NONE, null);
    }

    /** Returns the outcome for charges that cannot be refunded. */
    public static StoreOutcome of(StoreRequest request, List<RateLimitDecision> decisions) {
        return of(request, decisions, Refund.NONE);
    }

    /**
     * Returns the outcome without permits in advance.
     *
     * @param decisions one for each charge, in the same order: whether <em>its</em> permits are available
     * @param refund refunds what the charges have taken; {@link Refund#NONE} if the request was not refundable
     */
    public static StoreOutcome of(StoreRequest request, List<RateLimitDecision> decisions, Refund refund) {
        return new StoreOutcome(request, decisions.get(0), decisions, refund, null);
    }

    /** Returns this outcome with what was taken in advance. */
    public StoreOutcome with(Lease taken) {
        return new StoreOutcome(request, first, decisions, refund, taken);
    }

    @Override
    public StoreOutcome await() {
        return this;
    }

    @Override
    public CompletionStage<StoreOutcome> toStage() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public StoreAnswer handle(Handler handler) {
        return handler.handle(this, null);
    }

    @Override
    public StoreAnswer map(UnaryOperator<StoreOutcome> change) {
        return change.apply(this);
    }

    /** Returns the charges of the request. */
    public List<Charge> charges() {
        return request.charges();
    }

    /** Returns whether there is only one charge. */
    public boolean isSingle() {
        return request.isSingle();
    }

    /** Returns one decision for each charge, in the same order: whether <em>its</em> permits are available. */
    public List<RateLimitDecision> decisions() {
        List<RateLimitDecision> all = decisions;
        if (all == null) {
            all = List.of(first);
            decisions = all;
        }
        return all;
    }

    /** Returns the decision of the first charge, which is often the only one. */
    public RateLimitDecision decision() {
        return first;
    }

    /** Returns what refunds the charges; {@link Refund#NONE} if the request was not refundable. */
    public Refund refund() {
        return refund;
    }

    /**
     * Returns what was taken in advance, together with a way to refund it; {@code null} if the store takes nothing in
     * advance.
     */
    public @Nullable Lease lease() {
        return lease;
    }

    /** Returns whether the call is rejected. */
    public boolean isRejected() {
        return isRejected(charges(), i -> decisions().get(i).allowed());
    }

    /** Returns whether the charge has taken its permits. */
    public boolean isCharged(int index) {
        return isCharged(charges().get(index), decisions().get(index).allowed(), isRejected());
    }

    /**
     * Returns whether a call is rejected: by any limit that is not in {@linkplain RateLimit#dryRun() dry run}.
     *
     * @param available whether the permits of the charge with that index are available
     */
    public static boolean isRejected(List<Charge> charges, IntPredicate available) {
        for (int i = 0; i < charges.size(); i++) {
            if (!available.test(i) && !charges.get(i).limit().dryRun()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a charge takes its permits: if they are available, and the call is not rejected or the limit is in
     * {@linkplain RateLimit#dryRun() dry run}.
     *
     * @param rejected whether the call is rejected
     */
    public static boolean isCharged(Charge charge, boolean available, boolean rejected) {
        return available && (!rejected || charge.limit().dryRun());
    }

    /** Returns this outcome with its refund changed, if there is one. */
    public StoreOutcome mapRefund(UnaryOperator<Refund> change) {
        return refund == Refund.NONE ? this : new StoreOutcome(request, first, decisions, change.apply(refund), lease);
    }
}
