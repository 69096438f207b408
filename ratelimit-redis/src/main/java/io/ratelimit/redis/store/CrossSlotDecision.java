package io.ratelimit.redis.store;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.CombinedOutcome;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides a call whose buckets are in different slots of a cluster, where no script reaches them all, by calls for one slot each.
 * Looks at all slots in parallel. If all have the permits, charges one slot after the other, those with limits that block keys
 * last, and refunds the charges if a slot no longer has the permits, or fails. Limits in dry run do not affect this.
 */
final class CrossSlotDecision {

    private final StoreRequest request;

    private final Deadline deadline;

    private final List<Part> binding;

    private final List<Part> dryRuns;

    /**
     * @param slots the charges of each slot, in an order that is the same for all callers: of two with the same keys, one is first
     *     everywhere
     * @param calls decides a call for one slot
     */
    CrossSlotDecision(
            StoreRequest request,
            Deadline deadline,
            List<List<Charge>> slots,
            Function<StoreRequest, CompletableFuture<StoreOutcome>> calls) {
        this.request = request;
        this.deadline = deadline;
        this.binding = parts(slots, false, calls);
        this.dryRuns = parts(slots, true, calls);
    }

    private static List<Part> parts(
            List<List<Charge>> slots, boolean dryRun, Function<StoreRequest, CompletableFuture<StoreOutcome>> calls) {
        return slots.stream()
                .map(ofSlot -> ofSlot.stream()
                        .filter(charge -> charge.limit().dryRun() == dryRun)
                        .toList())
                .filter(ofSlot -> !ofSlot.isEmpty())
                .map(ofSlot -> new Part(ofSlot, calls))
                .toList();
    }

    CompletableFuture<StoreOutcome> decide() {
        return Futures.forAll(binding, Part::look)
                .thenCompose(seen -> binding.stream().allMatch(Part::fits)
                        ? chargeFrom(0, blockingLast())
                        : Futures.forAll(binding, this::chargeViolated))
                .thenCompose(charged -> Futures.forAll(dryRuns, Part::chargeIfPossible))
                .thenApply(done -> outcome());
    }

    /**
     * What a slot with limits that block keys is charged must be final, or it would be the violation of another call. Before it come
     * those whose plans of code may block keys.
     */
    private List<Part> blockingLast() {
        return binding.stream()
                .sorted(Comparator.<Part, Boolean>comparing(part -> part.any(RateLimit::mayBlockOthers))
                        .thenComparing(part -> part.any(RateLimit::mayHavePlansOfCode)))
                .toList();
    }

    /**
     * A look blocks no key, so a slot that blocks keys and rejects the call is asked to charge it. If it does after all, it
     * refunds that.
     */
    private CompletableFuture<Void> chargeViolated(Part part) {
        return part.fits() || !part.any(RateLimit::blocksKeys)
                ? CompletableFuture.completedFuture(null)
                : part.charge().thenCompose(done -> undo(part.fits() ? List.of(part) : List.of()));
    }

    private CompletableFuture<Void> chargeFrom(int number, List<Part> parts) {
        if (number == parts.size()) {
            return CompletableFuture.completedFuture(null);
        }
        Part part = parts.get(number);
        List<Part> earlier = parts.subList(0, number);
        return part.charge()
                .exceptionallyCompose(
                        thrown -> undo(earlier).thenCompose(done -> CompletableFuture.failedFuture(thrown)))
                .thenCompose(done -> part.fits() ? chargeFrom(number + 1, parts) : undo(earlier));
    }

    /** Refunds the parts. The refund continues after the deadline, but callers do not wait longer, and are rejected if it fails. */
    private CompletableFuture<Void> undo(List<Part> parts) {
        return deadline.bound(Futures.forAll(parts, Part::undo).copy()).exceptionally(failedOrLate -> null);
    }

    private StoreOutcome outcome() {
        return CombinedOutcome.of(
                request,
                Stream.concat(binding.stream(), dryRuns.stream())
                        .map(Part::outcome)
                        .toList());
    }

    /** The charges of one slot with their outcome. Never accessed by two steps at once. */
    private static final class Part {

        private final List<Charge> charges;

        private final Function<StoreRequest, CompletableFuture<StoreOutcome>> calls;

        /** {@code null}: not asked yet. */
        private @Nullable StoreOutcome seen;

        /** Of the look, unless the slot is charged. */
        private @Nullable StoreOutcome outcome;

        Part(List<Charge> charges, Function<StoreRequest, CompletableFuture<StoreOutcome>> calls) {
            this.charges = charges;
            this.calls = calls;
        }

        CompletableFuture<Void> look() {
            return ask(StoreRequest.peek(charges.get(0)).with(charges)).thenRun(() -> seen = outcome);
        }

        CompletableFuture<Void> charge() {
            return ask(StoreRequest.refundable(charges));
        }

        private CompletableFuture<Void> ask(StoreRequest call) {
            return Futures.start(() -> calls.apply(call)).thenAccept(answer -> outcome = answer);
        }

        /** Charges a dry run. If that fails, it counts as allowed. */
        CompletableFuture<Void> chargeIfPossible() {
            return charge().exceptionally(thrown -> {
                outcome = CombinedOutcome.allowed(StoreRequest.refundable(charges));
                return null;
            });
        }

        /** Refunds the charges. Their decision is again that of the look. */
        CompletableFuture<Void> undo() {
            Refund charged = outcome().refund();
            outcome = seen;
            return charged.refund(charges).toCompletableFuture();
        }

        StoreOutcome outcome() {
            return Objects.requireNonNull(outcome);
        }

        boolean any(Predicate<RateLimit> which) {
            return charges.stream().map(Charge::limit).anyMatch(which);
        }

        boolean fits() {
            return !outcome().isRejected();
        }
    }
}
