package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Decides charges whose buckets are in different slots of a cluster, where no script reaches them all. Looks into all slots
 * at once. If all have the permits, charges one slot after the other, and gives back what was taken if one of them no
 * longer has them, or fails. Limits in dry run have no say in that.
 */
final class SlotBySlot {

    private final RateLimitScriptExecutor executor;

    private final ScriptLanguage language;

    SlotBySlot(RateLimitScriptExecutor executor, ScriptLanguage language) {
        this.executor = executor;
        this.language = language;
    }

    static boolean isNeeded(List<byte[]> names) {
        return names.stream()
                        .mapToInt(ClusterSlotHashUtil::calculateSlot)
                        .distinct()
                        .count()
                > 1;
    }

    CompletableFuture<List<RateLimitDecision>> decide(List<Charge> charges, List<byte[]> names) {
        List<Part> binding = parts(charges, names, false);
        List<Part> dryRuns = parts(charges, names, true);
        return forAll(binding, part -> run(part, ScriptCall.LOOK))
                .thenCompose(seen -> binding.stream().allMatch(Part::fits)
                        ? chargeFrom(0, binding)
                        : CompletableFuture.completedFuture(null))
                .thenCompose(charged -> forAll(dryRuns, part -> run(part, ScriptCall.CHARGE)))
                .thenApply(done -> decisions(charges.size(), Stream.concat(binding.stream(), dryRuns.stream())));
    }

    /** By slot, in an order that is the same for all callers: of two that want the same, one is first everywhere. */
    private static List<Part> parts(List<Charge> charges, List<byte[]> names, boolean dryRun) {
        Map<Integer, List<Integer>> bySlot = new TreeMap<>();
        IntStream.range(0, charges.size())
                .filter(i -> charges.get(i).limit().dryRun() == dryRun)
                .forEach(i -> bySlot.computeIfAbsent(
                                ClusterSlotHashUtil.calculateSlot(names.get(i)), slot -> new ArrayList<>())
                        .add(i));
        return bySlot.values().stream()
                .map(indexes -> new Part(
                        indexes,
                        indexes.stream().map(charges::get).toList(),
                        indexes.stream().map(names::get).toList()))
                .toList();
    }

    private CompletableFuture<Void> chargeFrom(int number, List<Part> parts) {
        if (number == parts.size()) {
            return CompletableFuture.completedFuture(null);
        }
        Part part = parts.get(number);
        List<Part> earlier = parts.subList(0, number);
        return run(part, ScriptCall.CHARGE_WITH_RECEIPTS)
                .exceptionallyCompose(thrown -> forAll(earlier, this::giveBack).handle((done, also) -> fail(thrown)))
                .thenCompose(done -> part.fits() ? chargeFrom(number + 1, parts) : forAll(earlier, this::giveBack));
    }

    private static Void fail(Throwable thrown) {
        throw thrown instanceof CompletionException known ? known : new CompletionException(thrown);
    }

    private CompletableFuture<Void> run(Part part, ScriptCall call) {
        return executor.executeAsync(part.names, language.arguments(call, part.charges))
                .toCompletableFuture()
                .thenAccept(reply -> part.answer(reply, language.decisions(part.charges, reply)));
    }

    private CompletableFuture<Void> giveBack(Part part) {
        byte[][] arguments = language.giveBackArguments(part.charges, part.reply);
        part.decisions = part.before;
        return executor.executeAsync(part.names, arguments)
                .toCompletableFuture()
                .thenAccept(reply -> {});
    }

    private static CompletableFuture<Void> forAll(
            Collection<Part> parts, Function<Part, CompletableFuture<Void>> action) {
        return CompletableFuture.allOf(parts.stream().map(action).toArray(CompletableFuture[]::new));
    }

    private static List<RateLimitDecision> decisions(int charges, Stream<Part> parts) {
        RateLimitDecision[] decisions = new RateLimitDecision[charges];
        parts.forEach(part -> {
            for (int i = 0; i < part.indexes.size(); i++) {
                decisions[part.indexes.get(i)] = part.decisions.get(i);
            }
        });
        return List.of(decisions);
    }

    /** The charges of one slot, and what became of them. Changed by one step after the other. */
    private static final class Part {

        private final List<Integer> indexes;

        private final List<Charge> charges;

        private final List<byte[]> names;

        private List<Long> reply = List.of();

        private List<RateLimitDecision> decisions = List.of();

        /** What was decided before, which holds again when charges have been given back. */
        private List<RateLimitDecision> before = List.of();

        Part(List<Integer> indexes, List<Charge> charges, List<byte[]> names) {
            this.indexes = indexes;
            this.charges = charges;
            this.names = names;
        }

        void answer(List<Long> newReply, List<RateLimitDecision> newDecisions) {
            before = decisions;
            reply = newReply;
            decisions = newDecisions;
        }

        boolean fits() {
            return decisions.stream().allMatch(RateLimitDecision::allowed);
        }
    }
}
