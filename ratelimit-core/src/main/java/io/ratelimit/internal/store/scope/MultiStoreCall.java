package io.ratelimit.internal.store.scope;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A call with limits in several stores: all are charged, or none. The memory of this instance is asked first, then all servers at
 * the same time, and last the store with limits that block keys: what it charges must be final, or it would be the violation of
 * another call. There is only one such store, because start-up refuses others. If a store rejects the call or cannot decide it,
 * the charges of the others are refunded. No caller waits for that.
 */
final class MultiStoreCall {

    private final StoreRequest request;

    private final List<Part> parts = new ArrayList<>();

    /** @param stores returns the store of a limit */
    MultiStoreCall(StoreRequest request, Function<RateLimit, RateLimitStore> stores) {
        this.request = request;
        Map<RateLimitStore, List<Charge>> charges = new LinkedHashMap<>();
        for (Charge charge : request.charges()) {
            charges.computeIfAbsent(stores.apply(charge.limit()), store -> new ArrayList<>())
                    .add(charge);
        }
        charges.forEach((store, some) -> parts.add(new Part(store, some)));
    }

    /** Looks first where that is free: a store in memory whose block or violation rejects the call is asked before all others. */
    CompletableFuture<StoreOutcome> decide() {
        return Futures.forAll(those(part -> part.blocks() && part.isInMemory()), Part::look)
                .thenCompose(looked -> charge(stages()))
                .handle((done, thrown) -> outcome(thrown));
    }

    private Iterator<List<Part>> stages() {
        return List.of(
                        those(Part::isSeenToReject),
                        those(part -> !part.blocks() && part.isInMemory()),
                        those(part -> !part.blocks() && !part.isInMemory()),
                        those(part -> part.blocks() && !part.isSeenToReject()))
                .iterator();
    }

    private List<Part> those(Predicate<Part> which) {
        return parts.stream().filter(which).toList();
    }

    /** Once the call is rejected, only looks at the others: they may have it wait for longer. */
    private CompletableFuture<Void> charge(Iterator<List<Part>> stages) {
        if (!stages.hasNext() || parts.stream().anyMatch(Part::isRejected)) {
            return Futures.forAll(those(part -> part.outcome == null), Part::complete);
        }
        return Futures.forAll(stages.next(), Part::charge).thenCompose(charged -> charge(stages));
    }

    private StoreOutcome outcome(@Nullable Throwable thrown) {
        if (thrown != null) {
            parts.forEach(part -> part.refund(charge -> true));
            throw Futures.wrap(thrown);
        }
        boolean rejected = parts.stream().anyMatch(Part::isRejected);
        Map<Charge, RateLimitDecision> decisions = new HashMap<>();
        parts.forEach(part -> part.putDecisions(decisions, rejected));
        List<RateLimitDecision> inOrder = request.charges().stream()
                .map(decisions::get)
                .map(Objects::requireNonNull)
                .toList();
        return request.refundable() ? StoreOutcome.of(request, inOrder, refund()) : StoreOutcome.of(request, inOrder);
    }

    private Refund refund() {
        return permits -> Futures.forAll(parts, part -> part.refund(permits));
    }

    /** The charges of one store. Never accessed by two steps at once. */
    private static final class Part {

        private final RateLimitStore store;

        private final List<Charge> charges;

        private List<RateLimitDecision> seen = List.of();

        /** {@code null}: not charged. */
        private @Nullable StoreOutcome outcome;

        /** What limits in dry run have taken although the call is rejected. */
        private final Map<Charge, Refund> kept = new ConcurrentHashMap<>();

        Part(RateLimitStore store, List<Charge> charges) {
            this.store = store;
            this.charges = charges;
        }

        boolean isInMemory() {
            return charges.stream().allMatch(charge -> store.isNonBlocking(charge.limit()));
        }

        boolean blocks() {
            return charges.stream()
                    .map(Charge::limit)
                    .anyMatch(limit -> !limit.blockFor().isEmpty() && !limit.dryRun());
        }

        boolean isSeenToReject() {
            return !seen.isEmpty()
                    && StoreOutcome.isRejected(charges, i -> seen.get(i).allowed());
        }

        boolean isRejected() {
            return outcome != null && outcome.isRejected();
        }

        CompletableFuture<Void> charge() {
            return ask(StoreRequest.refundable(charges)).thenAccept(decided -> outcome = decided);
        }

        CompletableFuture<Void> look() {
            return see(StoreRequest::peek);
        }

        /** The call is rejected: charges limits in dry run, unless the call would hold their permits, and looks at the others. */
        CompletableFuture<Void> complete() {
            return see(charge -> isKept(charge) ? StoreRequest.refundable(List.of(charge)) : StoreRequest.peek(charge));
        }

        private CompletableFuture<StoreOutcome> ask(StoreRequest question) {
            return Futures.start(() -> store.decide(question).toStage());
        }

        private CompletableFuture<Void> see(Function<Charge, StoreRequest> question) {
            List<CompletableFuture<RateLimitDecision>> decisions = charges.stream()
                    .map(charge -> ask(question.apply(charge)).thenApply(decided -> {
                        kept.put(charge, decided.refund());
                        return decided.decision();
                    }))
                    .toList();
            return Futures.forAll(decisions, Function.identity())
                    .thenAccept(all ->
                            seen = decisions.stream().map(BoundedWait::result).toList());
        }

        /** Returns whether the charge stays although another limit rejects the call. */
        private static boolean isKept(Charge charge) {
            return charge.limit().dryRun() && charge.limit().hasRate();
        }

        /** @param rejected whether a store has rejected the call: if it was another one, the charges are refunded */
        void putDecisions(Map<Charge, RateLimitDecision> decisions, boolean rejected) {
            StoreOutcome charged = outcome;
            boolean undone = charged != null && rejected && !charged.isRejected();
            if (undone) {
                refund(charge -> !isKept(charge));
            }
            for (int i = 0; i < charges.size(); i++) {
                Charge charge = charges.get(i);
                RateLimitDecision decision =
                        charged == null ? seen.get(i) : charged.decisions().get(i);
                decisions.put(charge, undone && !isKept(charge) ? undone(decision, charge) : decision);
            }
        }

        private RateLimitDecision undone(RateLimitDecision charged, Charge charge) {
            return isInMemory()
                    ? store.decide(StoreRequest.peek(charge)).await().decision()
                    : withoutCharge(charged, charge);
        }

        /** Returns the decision about a charge that is refunded, without asking again: its permits are left. */
        private static RateLimitDecision withoutCharge(RateLimitDecision charged, Charge charge) {
            if (!charged.allowed()) {
                return charged;
            }
            boolean reserved = !charged.delay().isZero();
            long remaining = reserved
                    ? charged.remaining()
                    : Math.min(charged.capacity(), charged.remaining() + charge.permits());
            return new RateLimitDecision(
                    true,
                    charged.capacity(),
                    remaining,
                    charged.delay(),
                    Duration.ZERO,
                    remaining == charged.capacity() ? Duration.ZERO : charged.resetAfter());
        }

        void refund(Predicate<Charge> which) {
            Map<Charge, Long> permits = new HashMap<>();
            charges.stream().filter(which).forEach(charge -> permits.put(charge, charge.permits()));
            // The store's decorator logs a failure.
            var unused = refund(permits);
        }

        CompletableFuture<Void> refund(Map<Charge, Long> permits) {
            Map<Charge, Long> some = new HashMap<>(permits);
            some.keySet().retainAll(charges);
            List<CompletableFuture<Void>> refunds = new ArrayList<>();
            StoreOutcome charged = outcome;
            if (charged != null && !some.isEmpty()) {
                refunds.add(Futures.start(() -> charged.refund().refund(some)));
            }
            kept.forEach((charge, refund) -> {
                Long ofCharge = some.get(charge);
                if (ofCharge != null) {
                    refunds.add(Futures.start(() -> refund.refund(Map.of(charge, ofCharge))));
                }
            });
            return Futures.forAll(refunds, Function.identity());
        }
    }
}
