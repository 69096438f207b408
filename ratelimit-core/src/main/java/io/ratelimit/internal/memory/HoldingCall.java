package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.memory.PermitCounters.Counter;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * Decides a call with concurrency limits. It keeps their counters locked while it decides the other limits of the call, so that
 * all are charged or none.
 */
final class HoldingCall {

    private final StoreRequest request;

    private final PermitCounters held;

    /** Locked counters, in the order in which all calls lock them. */
    private final Map<Charge, Counter> counters = new HashMap<>();

    /** How to undo a number of permits of each charge that was made. */
    private final Map<Charge, LongConsumer> undo = new HashMap<>();

    HoldingCall(StoreRequest request, PermitCounters held) {
        this.request = request;
        this.held = held;
    }

    /** Decides the charges of limits with rates. */
    @FunctionalInterface
    interface RateDecisions {

        /**
         * Charges all or none.
         *
         * @param rejected whether another limit rejects the call, so that only limits in dry run are charged
         * @param undo receives how to undo each charge
         */
        List<RateLimitDecision> decide(List<Charge> charges, boolean rejected, Map<Charge, LongConsumer> undo);
    }

    StoreOutcome decide(RateDecisions rates) {
        try {
            return decideLocked(rates);
        } finally {
            counters.values().forEach(held::unlock);
        }
    }

    private StoreOutcome decideLocked(RateDecisions rates) {
        List<Charge> holding = charges(true);
        holding.stream().sorted(JointCall.BY_BUCKET).forEach(charge -> counters.put(charge, held.lock(charge)));
        List<Charge> others = charges(false);
        boolean rejected = StoreOutcome.isRejected(holding, i -> fits(holding.get(i)));
        List<RateLimitDecision> ofOthers = others.isEmpty() ? List.of() : rates.decide(others, rejected, undo);
        boolean rejectedByAny =
                rejected || StoreOutcome.isRejected(others, i -> ofOthers.get(i).allowed());
        int next = 0;
        List<RateLimitDecision> decisions = new ArrayList<>(request.charges().size());
        for (Charge charge : request.charges()) {
            decisions.add(charge.limit().hasRate() ? ofOthers.get(next++) : take(charge, rejectedByAny));
        }
        return StoreOutcome.of(request, decisions, new ReceiptRefund<>(undo, HoldingCall::undo));
    }

    private List<Charge> charges(boolean holding) {
        return request.charges().stream()
                .filter(charge -> charge.limit().hasRate() != holding)
                .toList();
    }

    private Counter counter(Charge charge) {
        return Objects.requireNonNull(counters.get(charge));
    }

    private boolean fits(Charge charge) {
        return PermitCounters.fits(charge, counter(charge).used());
    }

    private RateLimitDecision take(Charge charge, boolean rejected) {
        Counter counter = counter(charge);
        boolean charged = StoreOutcome.isCharged(charge, fits(charge), rejected);
        RateLimitDecision decision = PermitCounters.decision(charge, counter.used(), charged);
        if (charged && charge.permits() > 0) {
            counter.take(charge.permits());
            undo.put(charge, permits -> held.release(counter, charge.permits()));
        }
        return decision;
    }

    /** Undoes each of the charges, also if an algorithm of the application fails to refund another. */
    static CompletableFuture<Void> undo(Map<Charge, LongConsumer> charges, Map<Charge, Long> permits) {
        return CompletableFuture.allOf(charges.entrySet().stream()
                .map(charge -> CompletableFuture.runAsync(
                        () -> charge.getValue().accept(permits.getOrDefault(charge.getKey(), 0L)), Runnable::run))
                .toArray(CompletableFuture[]::new));
    }
}
