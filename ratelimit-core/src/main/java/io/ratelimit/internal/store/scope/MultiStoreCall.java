package io.ratelimit.internal.store.scope;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.CombinedOutcome;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A call with limits in several stores: all are charged, or none. The memory of this instance is asked first, then all servers at
 * the same time, and last the store with limits that block keys: what it charges must be final, or it would be the violation of
 * another call. There is only one such store: calls with two are refused. If a store rejects the call or cannot decide it,
 * the charges of the others are refunded. Only a call that may be decided again waits for that: its own charges would reject it.
 * Limits in dry run are asked when the call is decided.
 */
final class MultiStoreCall {

    private final StoreRequest request;

    private final List<Part> parts;

    private final List<Part> dryRuns;

    /** @param stores returns the store of a limit */
    MultiStoreCall(StoreRequest request, Function<RateLimit, RateLimitStore> stores) {
        this.request = request;
        this.parts = parts(request.charges(), false, stores);
        this.dryRuns = parts(request.charges(), true, stores);
    }

    private static List<Part> parts(List<Charge> charges, boolean dryRun, Function<RateLimit, RateLimitStore> stores) {
        Map<RateLimitStore, List<Charge>> ofStores = new LinkedHashMap<>();
        for (Charge charge : charges) {
            if (charge.limit().dryRun() == dryRun) {
                ofStores.computeIfAbsent(stores.apply(charge.limit()), store -> new ArrayList<>())
                        .add(charge);
            }
        }
        return ofStores.entrySet().stream()
                .map(some -> new Part(some.getKey(), some.getValue()))
                .toList();
    }

    /** Looks first where that is free: a store in memory whose block or violation rejects the call is asked before all others. */
    CompletableFuture<StoreOutcome> decide() {
        return Futures.forAll(those(part -> part.mayBlockOthers() && part.isInMemory()), Part::look)
                .thenCompose(looked -> Futures.forAll(those(Part::isRejected), Part::violate))
                .thenCompose(violated -> charge(part -> !part.mayBlockOthers() && part.isInMemory()))
                .thenCompose(charged -> charge(part -> !part.mayBlockOthers() && !part.isInMemory()))
                .thenCompose(charged -> charge(Part::mayBlockOthers))
                .thenCompose(charged -> Futures.forAll(those(Part::isUnasked), Part::look))
                .thenCompose(decided -> Futures.forAll(dryRuns, part -> part.chargeDryRun(isRejected())))
                .handle((done, thrown) -> outcome(thrown))
                .thenCompose(outcome -> mayBeDecidedAgain()
                        ? Futures.forAll(parts, part -> part.refunded).handle((done, thrown) -> outcome)
                        : CompletableFuture.completedFuture(outcome));
    }

    private boolean mayBeDecidedAgain() {
        return parts.stream()
                .anyMatch(part ->
                        part.any(limit -> !limit.hasRate() && !limit.maxWait().isZero()));
    }

    private List<Part> those(Predicate<Part> which) {
        return parts.stream().filter(which).toList();
    }

    /** Charges some stores, unless the call is rejected: the others are only looked at then, as they may have it wait for longer. */
    private CompletableFuture<Void> charge(Predicate<Part> which) {
        return isRejected() ? CompletableFuture.completedFuture(null) : Futures.forAll(those(which), Part::charge);
    }

    private boolean isRejected() {
        return parts.stream().anyMatch(Part::isRejected);
    }

    private StoreOutcome outcome(@Nullable Throwable thrown) {
        if (thrown != null) {
            parts.forEach(Part::refund);
            throw Futures.wrap(thrown);
        }
        boolean rejected = isRejected();
        return CombinedOutcome.of(
                request,
                Stream.concat(
                                parts.stream().flatMap(part -> part.outcomes(rejected).stream()),
                                dryRuns.stream().flatMap(part -> part.outcomes(false).stream()))
                        .toList());
    }

    /** The charges of one store. Never accessed by two steps at once. */
    private static final class Part {

        private final RateLimitStore store;

        private final List<Charge> charges;

        /** Of a look at each charge; of limits in dry run also what they have taken. */
        private final Map<Charge, StoreOutcome> seen = new ConcurrentHashMap<>();

        /** {@code null}: not charged. */
        private @Nullable StoreOutcome charged;

        private CompletableFuture<Void> refunded = CompletableFuture.completedFuture(null);

        Part(RateLimitStore store, List<Charge> charges) {
            this.store = store;
            this.charges = charges;
        }

        boolean isInMemory() {
            return charges.stream().allMatch(charge -> store.isNonBlocking(charge.limit()));
        }

        boolean mayBlockOthers() {
            return any(RateLimit::mayBlockOthers);
        }

        boolean any(Predicate<RateLimit> which) {
            return charges.stream().map(Charge::limit).anyMatch(which);
        }

        boolean isUnasked() {
            return charged == null && seen.isEmpty();
        }

        boolean isRejected() {
            return charged != null
                    ? charged.isRejected()
                    : seen.values().stream().anyMatch(StoreOutcome::isRejected);
        }

        CompletableFuture<Void> charge() {
            return ask(StoreRequest.refundable(charges)).thenAccept(decided -> charged = decided);
        }

        CompletableFuture<Void> look() {
            return see(StoreRequest::peek);
        }

        /**
         * A look that rejects blocks no key, so a store that blocks keys is asked to charge the call. If permits have come back
         * meanwhile, they are refunded, and the look counts.
         */
        CompletableFuture<Void> violate() {
            return any(RateLimit::blocksKeys)
                    ? charge().thenRun(() -> {
                        if (!isRejected()) {
                            refund();
                            charged = null;
                        }
                    })
                    : CompletableFuture.completedFuture(null);
        }

        /** Charges limits in dry run, unless a rejected call would hold their permits. If that fails, they count as allowed. */
        CompletableFuture<Void> chargeDryRun(boolean rejected) {
            return see(charge -> rejected && !charge.limit().hasRate()
                            ? StoreRequest.peek(charge)
                            : StoreRequest.refundable(List.of(charge)))
                    .exceptionally(thrown -> {
                        charges.forEach(charge -> seen.putIfAbsent(charge, CombinedOutcome.allowed(charge)));
                        return null;
                    });
        }

        private CompletableFuture<StoreOutcome> ask(StoreRequest question) {
            return Futures.start(() -> store.decide(question).toStage());
        }

        private CompletableFuture<Void> see(Function<Charge, StoreRequest> question) {
            return Futures.forAll(
                    charges, charge -> ask(question.apply(charge)).thenAccept(decided -> seen.put(charge, decided)));
        }

        /** @param rejected whether a store has rejected the call: if it was another one, the charges are refunded */
        Collection<StoreOutcome> outcomes(boolean rejected) {
            StoreOutcome taken = charged;
            if (taken == null) {
                return seen.values();
            }
            return List.of(rejected && !taken.isRejected() ? undone(taken) : taken);
        }

        private StoreOutcome undone(StoreOutcome taken) {
            refund();
            List<RateLimitDecision> decisions = new ArrayList<>();
            for (int i = 0; i < charges.size(); i++) {
                decisions.add(undone(taken.decisions().get(i), charges.get(i)));
            }
            return StoreOutcome.of(StoreRequest.refundable(charges), decisions, taken.refund());
        }

        private RateLimitDecision undone(RateLimitDecision charged, Charge charge) {
            return isInMemory()
                    ? store.decide(StoreRequest.peek(charge)).await().decision()
                    : withoutCharge(charged, charge);
        }

        /** Returns the decision about a charge that is refunded, without asking again: its permits are left. */
        private static RateLimitDecision withoutCharge(RateLimitDecision charged, Charge charge) {
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

        void refund() {
            StoreOutcome taken = charged;
            if (taken != null) {
                // The store's decorator logs a failure.
                refunded = Futures.start(() -> taken.refund().refund(taken.charges()));
            }
        }
    }
}
