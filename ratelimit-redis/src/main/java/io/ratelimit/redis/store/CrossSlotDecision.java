package io.ratelimit.redis.store;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.door.Deadline;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.permit.PermitHold;
import io.ratelimit.redis.script.CalendarCalls;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.script.ScriptReply;
import io.ratelimit.spi.Charge;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Decides charges whose buckets are in different slots of a cluster, where no script reaches them all. Looks at all slots in
 * parallel. If all have the permits, charges one slot after the other, those with limits that block keys last, and refunds the
 * charges if a slot no longer has the permits, or fails. Limits in dry run do not affect this.
 */
final class CrossSlotDecision {

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final CalendarCalls calendars;

    private final boolean isKeyByKey;

    /** @param isKeyByKey whether each key has a script, because a slot is moving to another node and its keys are on both */
    CrossSlotDecision(GuardedRedis redis, ScriptCodec codec, CalendarCalls calendars, boolean isKeyByKey) {
        this.redis = redis;
        this.codec = codec;
        this.calendars = calendars;
        this.isKeyByKey = isKeyByKey;
    }

    private CrossSlotDecision keyByKey() {
        return new CrossSlotDecision(redis, codec, calendars, true);
    }

    /** Returns whether no single script reaches all keys. */
    boolean isNeeded(List<byte[]> names) {
        return names.size() > 1
                && redis.isClustered()
                && !ClusterSlotHashUtil.isSameSlotForAllKeys(names.toArray(byte[][]::new));
    }

    /** Runs one script if it reaches all keys, else one for each slot, or one for each key while a slot is moving. */
    <T> CompletableFuture<T> inOneOrMore(
            List<byte[]> names,
            Supplier<CompletableFuture<T>> one,
            Function<CrossSlotDecision, CompletableFuture<T>> more) {
        if (names.size() == 1) {
            return one.get();
        }
        return isNeeded(names)
                ? orElse(more.apply(this), () -> more.apply(keyByKey()))
                : orElse(one.get(), () -> more.apply(isNeeded(names) ? this : keyByKey()));
    }

    private static <T> CompletableFuture<T> orElse(
            CompletableFuture<T> work, Supplier<CompletableFuture<T>> ifKeysAreApart) {
        return work.exceptionallyCompose(thrown -> RedisFailureMapper.areKeysApart(thrown)
                ? ifKeysAreApart.get()
                : CompletableFuture.failedFuture(thrown));
    }

    /**
     * Decides charges.
     *
     * @param holds what the call asks for of concurrency limits
     */
    CompletableFuture<ScriptReply> decide(
            List<Charge> charges, List<byte[]> names, List<PermitHold> holds, Deadline deadline) {
        List<Part> binding = parts(charges, names, holds, false);
        List<Part> dryRuns = parts(charges, names, holds, true);
        return Futures.forAll(binding, part -> run(part, ScriptCall.LOOK, deadline))
                .thenCompose(seen -> binding.stream().allMatch(Part::fits)
                        ? chargeFrom(0, blockingLast(binding), deadline)
                        : Futures.forAll(binding, part -> chargeViolated(part, deadline)))
                .thenCompose(charged -> Futures.forAll(dryRuns, part -> runIfPossible(part, deadline)))
                .thenApply(done -> combine(charges.size(), Stream.concat(binding.stream(), dryRuns.stream())));
    }

    /** Groups by slot, in an order that is the same for all callers: of two with the same keys, one is first everywhere. */
    private List<Part> parts(List<Charge> charges, List<byte[]> names, List<PermitHold> holds, boolean dryRun) {
        List<Integer> indexes = IntStream.range(0, charges.size())
                .filter(i -> charges.get(i).limit().dryRun() == dryRun)
                .boxed()
                .sorted(Comparator.comparing(names::get, Arrays::compareUnsigned))
                .toList();
        return redis.bySlot(indexes, names::get, i -> 1, isKeyByKey ? 1 : Integer.MAX_VALUE).stream()
                .map(ofPart -> new Part(ofPart, charges, names, holds))
                .toList();
    }

    /** What a slot with limits that block keys is charged must be final, or it would be the violation of another call. */
    private static List<Part> blockingLast(List<Part> parts) {
        return parts.stream().sorted(Comparator.comparing(Part::blocks)).toList();
    }

    /**
     * A look blocks no key, so a slot that blocks keys and rejects the call is asked to charge it. If it does after all, it
     * refunds that.
     */
    private CompletableFuture<Void> chargeViolated(Part part, Deadline deadline) {
        return part.fits() || !part.blocks()
                ? CompletableFuture.completedFuture(null)
                : charge(part, deadline)
                        .thenCompose(done ->
                                part.fits() ? undo(List.of(part), deadline) : CompletableFuture.completedFuture(null));
    }

    private CompletableFuture<Void> chargeFrom(int number, List<Part> parts, Deadline deadline) {
        if (number == parts.size()) {
            return CompletableFuture.completedFuture(null);
        }
        Part part = parts.get(number);
        List<Part> earlier = parts.subList(0, number);
        return charge(part, deadline)
                .exceptionallyCompose(thrown -> undo(earlier, deadline)
                        .exceptionally(also -> null)
                        .thenCompose(done -> CompletableFuture.failedFuture(thrown)))
                .thenCompose(done -> part.fits() ? chargeFrom(number + 1, parts, deadline) : undo(earlier, deadline));
    }

    private CompletableFuture<Void> charge(Part part, Deadline deadline) {
        return run(part, part.holds.isEmpty() ? ScriptCall.CHARGE_WITH_RECEIPTS : ScriptCall.HOLD, deadline);
    }

    private CompletableFuture<Void> run(Part part, ScriptCall call, Deadline deadline) {
        long holder = part.holds.isEmpty() ? 0 : part.holds.get(0).holder();
        return calendars.complete(
                part.charges,
                () -> redis.execute(part.names, codec.arguments(call, part.charges, holder), deadline)
                        .thenAccept(reply -> part.read(call, reply)));
    }

    /** Runs a dry run. If it fails, it counts as allowed. */
    private CompletableFuture<Void> runIfPossible(Part part, Deadline deadline) {
        return charge(part, deadline).exceptionally(thrown -> {
            part.seen = part.charges.stream()
                    .map(charge -> RateLimitDecision.unlimited(charge.limit().capacity()))
                    .toList();
            return null;
        });
    }

    /** Refunds the parts. The refund continues after the deadline, but callers do not wait longer. */
    private CompletableFuture<Void> undo(List<Part> parts, Deadline deadline) {
        return deadline.bound(Futures.forAll(parts, this::undo).copy());
    }

    /** Refunds the part, and ends its holds. Its decision is again that of the look. */
    private CompletableFuture<Void> undo(Part part) {
        ScriptReply charged = part.charged;
        part.charged = null;
        if (charged == null) {
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> ended = PermitHold.end(part.holds);
        return part.holds.size() == part.charges.size()
                ? ended
                : CompletableFuture.allOf(ended, refund(part, charged.receipts()));
    }

    /** Refunds never count towards the circuit breaker, also because they may end long after the call. */
    private CompletableFuture<Void> refund(Part part, List<Receipt> receipts) {
        List<Integer> rates = IntStream.range(0, receipts.size())
                .filter(i -> part.charges.get(i).limit().hasRate())
                .boxed()
                .toList();
        return redis.executeInBackground(
                        rates.stream().map(part.names::get).toList(),
                        codec.refundArguments(
                                rates.stream().map(part.charges::get).toList(),
                                rates.stream().map(receipts::get).toList()),
                        redis.deadline())
                .thenAccept(reply -> {});
    }

    private static ScriptReply combine(int charges, Stream<Part> parts) {
        RateLimitDecision[] decisions = new RateLimitDecision[charges];
        Receipt[] receipts = new Receipt[charges];
        parts.forEach(part -> {
            List<RateLimitDecision> ofPart = part.decisions();
            for (int i = 0; i < part.indexes.size(); i++) {
                decisions[part.indexes.get(i)] = ofPart.get(i);
                receipts[part.indexes.get(i)] = part.receipt(i);
            }
        });
        return new ScriptReply(List.of(decisions), List.of(receipts), 0);
    }

    /** The charges of one slot with their decisions. Never accessed by two steps at once. */
    private static final class Part {

        private final List<Integer> indexes;

        private final List<Charge> charges;

        private final List<byte[]> names;

        /** What the call asks for of the charges' buckets. */
        private final List<PermitHold> holds;

        private List<RateLimitDecision> seen = List.of();

        /** {@code null} if the charges were not made, or were refunded. */
        private @Nullable ScriptReply charged;

        Part(List<Integer> indexes, List<Charge> charges, List<byte[]> names, List<PermitHold> ofCall) {
            this.indexes = indexes;
            this.charges = of(charges);
            this.names = of(names);
            this.holds = ofCall.stream()
                    .filter(hold -> this.charges.contains(hold.charge()))
                    .toList();
        }

        /** Selects this slot's elements from a list for all charges of the call. */
        <T> List<T> of(List<T> all) {
            return indexes.stream().map(all::get).toList();
        }

        void read(ScriptCall call, List<Long> reply) {
            if (call == ScriptCall.LOOK) {
                seen = ScriptReply.decisions(call, charges, reply, 0);
            } else {
                charged = ScriptReply.of(call, charges, reply, 0);
            }
        }

        List<RateLimitDecision> decisions() {
            return charged == null ? seen : charged.decisions();
        }

        Receipt receipt(int number) {
            return charged == null ? Receipt.NONE : charged.receipts().get(number);
        }

        boolean blocks() {
            return charges.stream()
                    .anyMatch(charge -> !charge.limit().blockFor().isEmpty());
        }

        boolean fits() {
            return decisions().stream().allMatch(RateLimitDecision::allowed);
        }
    }
}
