package io.ratelimit.internal.store.lease;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.lease.LeasedPermits.Portion;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A call with several charges, at least one covered by leased permits. If the rest is rejected or not decided,
 * the leased permits are put back.
 */
final class PartlyLeasedCall {

    private final StoreRequest request;

    private final LongSupplier nanos;

    /** Of the charges covered by leased permits. */
    private final Map<Charge, Portion> taken = new HashMap<>();

    private final Map<Charge, RateLimitDecision> decisions = new HashMap<>();

    private final List<Charge> rest = new ArrayList<>();

    /** @param nanos a clock */
    PartlyLeasedCall(StoreRequest request, LongSupplier nanos) {
        this.request = request;
        this.nanos = nanos;
    }

    /** Covers the charge, if so many permits are leased. */
    void takeFrom(@Nullable LeasedPermits leased, Charge charge) {
        long now = nanos.getAsLong();
        Portion portion = leased == null ? null : leased.takePortion(charge.permits(), now);
        if (portion == null) {
            rest.add(charge);
        } else {
            taken.put(charge, portion);
            decisions.put(charge, portion.decision(now));
        }
    }

    /** The charges that no leased permits cover. */
    List<Charge> rest() {
        return rest;
    }

    /** Returns the outcome if there is no rest. */
    StoreOutcome outcome() {
        return outcome(Refund.NONE);
    }

    /** Returns the outcome, with the store's for the rest, or throws the store's failure. */
    StoreOutcome outcome(@Nullable StoreOutcome others, @Nullable Throwable thrown) {
        if (others == null) {
            restore();
            throw Futures.unchecked(thrown);
        }
        for (int i = 0; i < rest.size(); i++) {
            decisions.put(rest.get(i), others.decisions().get(i));
        }
        boolean rejected = others.isRejected();
        taken.entrySet().removeIf(entry -> {
            boolean charged = StoreOutcome.isCharged(entry.getKey(), true, rejected);
            if (!charged) {
                var unused = entry.getValue().restore(nanos.getAsLong());
            }
            return !charged;
        });
        return outcome(others.refund());
    }

    /** The rest was not decided. */
    void restore() {
        var unused = restore(taken.values());
    }

    private CompletableFuture<Void> restore(Collection<Portion> portions) {
        return Futures.forAll(portions, portion -> portion.restore(nanos.getAsLong()));
    }

    private Map<Charge, Long> ofRest(Map<Charge, Long> permits) {
        Map<Charge, Long> some = new HashMap<>(permits);
        some.keySet().retainAll(rest);
        return some;
    }

    private StoreOutcome outcome(Refund others) {
        List<RateLimitDecision> all =
                request.charges().stream().map(decisions::get).toList();
        return request.refundable() ? StoreOutcome.of(request, all, refund(others)) : StoreOutcome.of(request, all);
    }

    private Refund refund(Refund others) {
        Refund leased = new ReceiptRefund<>(taken, (refunded, permits) -> restore(refunded.values()));
        return permits -> CompletableFuture.allOf(
                leased.refund(permits).toCompletableFuture(),
                others.refund(ofRest(permits)).toCompletableFuture());
    }
}
