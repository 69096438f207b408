package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.concurrent.Futures;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Decides charges whose buckets are in different slots of a cluster, where no script reaches them all. Looks into all slots
 * at once. If all have the permits, charges one slot after the other, and gives back what was taken if one of them no
 * longer has them, or fails. Limits in dry run have no say in that. What a call has taken can be given back later, too.
 */
final class CrossSlotDecision {

    private final GuardedRedis redis;

    private final ScriptCodec language;

    /** What a script reaches together has the same place. */
    private final Function<byte[], String> place;

    private CrossSlotDecision(GuardedRedis redis, ScriptCodec language, Function<byte[], String> place) {
        this.redis = redis;
        this.language = language;
        this.place = place;
    }

    static CrossSlotDecision slots(GuardedRedis redis, ScriptCodec language) {
        return new CrossSlotDecision(redis, language, CrossSlotDecision::slot);
    }

    /** For keys of a slot that is on its way to another node, and that are on both for a moment. */
    static CrossSlotDecision keys(GuardedRedis redis, ScriptCodec language) {
        return new CrossSlotDecision(
                redis, language, name -> slot(name) + new String(name, StandardCharsets.ISO_8859_1));
    }

    private static String slot(byte[] name) {
        return "%05d".formatted(ClusterSlotHashUtil.calculateSlot(name));
    }

    static boolean isNeeded(List<byte[]> names) {
        return names.stream().map(CrossSlotDecision::slot).distinct().count() > 1;
    }

    CompletableFuture<ReceiptReply> decide(List<Charge> charges, List<byte[]> names, Deadline deadline) {
        List<Part> binding = parts(charges, names, charge -> !charge.limit().dryRun());
        List<Part> dryRuns = parts(charges, names, charge -> charge.limit().dryRun());
        return forAll(binding, part -> run(part, ScriptCall.LOOK, deadline))
                .thenCompose(seen -> binding.stream().allMatch(Part::fits)
                        ? chargeFrom(0, binding, deadline)
                        : CompletableFuture.completedFuture(null))
                .thenCompose(charged -> forAll(dryRuns, part -> runIfPossible(part, deadline)))
                .thenApply(done -> together(charges, Stream.concat(binding.stream(), dryRuns.stream())));
    }

    /**
     * Gives back to all slots at once what charges have taken.
     *
     * @param receipts one for each charge
     */
    CompletableFuture<Void> giveBack(
            List<Charge> charges, List<byte[]> names, List<Receipt> receipts, Deadline deadline) {
        return forAll(parts(charges, names, charge -> true), part -> giveBack(part, part.of(receipts), deadline));
    }

    /** By slot, in an order that is the same for all callers: of two that want the same, one is first everywhere. */
    private List<Part> parts(List<Charge> charges, List<byte[]> names, Predicate<Charge> which) {
        Map<String, List<Integer>> byPlace = new TreeMap<>();
        IntStream.range(0, charges.size())
                .filter(i -> which.test(charges.get(i)))
                .forEach(i -> byPlace.computeIfAbsent(place.apply(names.get(i)), any -> new ArrayList<>())
                        .add(i));
        return byPlace.values().stream()
                .map(indexes -> new Part(indexes, charges, names))
                .toList();
    }

    private CompletableFuture<Void> chargeFrom(int number, List<Part> parts, Deadline deadline) {
        if (number == parts.size()) {
            return CompletableFuture.completedFuture(null);
        }
        Part part = parts.get(number);
        List<Part> earlier = parts.subList(0, number);
        return run(part, ScriptCall.CHARGE_WITH_RECEIPTS, deadline)
                .exceptionallyCompose(thrown -> undo(earlier, deadline).handle((done, also) -> fail(thrown)))
                .thenCompose(done -> part.fits() ? chargeFrom(number + 1, parts, deadline) : undo(earlier, deadline));
    }

    private static Void fail(Throwable thrown) {
        throw Futures.wrap(thrown);
    }

    private CompletableFuture<Void> run(Part part, ScriptCall call, Deadline deadline) {
        return redis.execute(part.names, language.arguments(call, part.charges), deadline)
                .thenAccept(reply -> {
                    if (call == ScriptCall.LOOK) {
                        part.seen = language.decisions(call, part.charges, reply, 0);
                    } else {
                        part.charged = language.receiptedCall(part.charges, reply, 0);
                    }
                });
    }

    /** What cannot be decided in dry run is let pass, as everything is that others decide. */
    private CompletableFuture<Void> runIfPossible(Part part, Deadline deadline) {
        return run(part, ScriptCall.CHARGE_WITH_RECEIPTS, deadline).exceptionally(thrown -> {
            part.seen = part.charges.stream()
                    .map(charge -> RateLimitDecision.unlimited(charge.limit().capacity()))
                    .toList();
            return null;
        });
    }

    /** Goes on after the deadline, but nobody waits for it longer. */
    private CompletableFuture<Void> undo(List<Part> parts, Deadline deadline) {
        return deadline.bound(forAll(parts, this::undo).copy());
    }

    /** What was seen before the charge holds again. */
    private CompletableFuture<Void> undo(Part part) {
        ReceiptReply charged = part.charged;
        part.charged = null;
        return charged == null
                ? CompletableFuture.completedFuture(null)
                : giveBack(part, charged.receipts(), redis.deadline());
    }

    private CompletableFuture<Void> giveBack(Part part, List<Receipt> receipts, Deadline deadline) {
        return redis.execute(part.names, language.giveBackArguments(part.charges, receipts), deadline)
                .thenAccept(reply -> {});
    }

    private static CompletableFuture<Void> forAll(
            Collection<Part> parts, Function<Part, CompletableFuture<Void>> action) {
        return CompletableFuture.allOf(parts.stream().map(action).toArray(CompletableFuture[]::new));
    }

    private static ReceiptReply together(List<Charge> charges, Stream<Part> parts) {
        RateLimitDecision[] decisions = new RateLimitDecision[charges.size()];
        Receipt[] receipts = new Receipt[charges.size()];
        parts.forEach(part -> {
            List<RateLimitDecision> said = part.decisions();
            for (int i = 0; i < part.indexes.size(); i++) {
                decisions[part.indexes.get(i)] = said.get(i);
                receipts[part.indexes.get(i)] = part.receipt(i);
            }
        });
        return new ReceiptReply(charges, List.of(decisions), List.of(receipts));
    }

    /** The charges of one slot, and what became of them. Changed by one step after the other. */
    private static final class Part {

        private final List<Integer> indexes;

        private final List<Charge> charges;

        private final List<byte[]> names;

        private List<RateLimitDecision> seen = List.of();

        /** {@code null} if they were not charged, or have been given back. */
        private @Nullable ReceiptReply charged;

        Part(List<Integer> indexes, List<Charge> charges, List<byte[]> names) {
            this.indexes = indexes;
            this.charges = of(charges);
            this.names = of(names);
        }

        /** Of a list for all charges of the call, what is this slot's. */
        <T> List<T> of(List<T> all) {
            return indexes.stream().map(all::get).toList();
        }

        List<RateLimitDecision> decisions() {
            return charged == null ? seen : charged.decisions();
        }

        Receipt receipt(int number) {
            return charged == null ? Receipt.NONE : charged.receipts().get(number);
        }

        boolean fits() {
            return decisions().stream().allMatch(RateLimitDecision::allowed);
        }
    }
}
