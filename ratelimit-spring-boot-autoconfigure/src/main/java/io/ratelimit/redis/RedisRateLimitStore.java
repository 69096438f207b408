package io.ratelimit.redis;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;
import io.ratelimit.Internal;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.store.Lease;
import io.ratelimit.store.LeaseRemainder;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.ReceiptRefund;
import io.ratelimit.store.RefundableDecisions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides in Redis: all charges of a call in one script, by the server's clock; calls that arrive while a script is on its
 * way, together in the next. On a cluster, charges of different keys take a script for each slot.
 */
@Internal
public final class RedisRateLimitStore implements RateLimitStore {

    private final GuardedRedis redis;

    private final BucketKeys keys;

    private final ScriptCodec language = new ScriptCodec();

    private final CallDispatcher dispatcher;

    private final LeaseReturns leaseReturns;

    private final CrossSlotDecision slotBySlot;

    private final CrossSlotDecision keyByKey;

    /** @param keyPrefix what the name of every bucket begins with; no braces */
    public RedisRateLimitStore(GuardedRedis redis, String keyPrefix) {
        this(redis, keyPrefix, BatchingDispatcher::new);
    }

    /** @param dispatcher how calls get to the script */
    RedisRateLimitStore(
            GuardedRedis redis, String keyPrefix, BiFunction<GuardedRedis, ScriptCodec, CallDispatcher> dispatcher) {
        this.redis = redis;
        this.keys = new BucketKeys(keyPrefix);
        this.leaseReturns = new LeaseReturns(redis, language, keys);
        this.dispatcher = dispatcher.apply(redis, language);
        this.slotBySlot = CrossSlotDecision.slots(redis, language);
        this.keyByKey = CrossSlotDecision.keys(redis, language);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        if (!areApart(names)) {
            try {
                return decisions(ScriptCall.CHARGE, charges, names, deadline, true)
                        .await();
            } catch (RateLimitStoreException ex) {
                if (names.size() == 1 || !RedisFailureMapper.areKeysApart(ex)) {
                    throw ex;
                }
            }
        }
        return now(scripts(names).decide(charges, names, deadline), deadline).decisions();
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        return inOneOrMore(
                names,
                () -> decisions(ScriptCall.CHARGE, charges, names, deadline, false)
                        .outcome(),
                scripts -> scripts.decide(charges, names, deadline).thenApply(ReceiptReply::decisions));
    }

    /** Whether it is known that no script reaches all keys. */
    private boolean areApart(List<byte[]> names) {
        return names.size() > 1 && redis.isClustered() && CrossSlotDecision.isNeeded(names);
    }

    /** For keys that one script has not reached, or will not. */
    private CrossSlotDecision scripts(List<byte[]> names) {
        return CrossSlotDecision.isNeeded(names) ? slotBySlot : keyByKey;
    }

    /** In one script, where one reaches all keys; slot by slot, and key by key while a slot is on the move. */
    private <T> CompletableFuture<T> inOneOrMore(
            List<byte[]> names,
            Supplier<CompletableFuture<T>> one,
            Function<CrossSlotDecision, CompletableFuture<T>> more) {
        if (names.size() == 1) {
            return one.get();
        }
        return areApart(names)
                ? orElse(more.apply(slotBySlot), () -> more.apply(keyByKey))
                : orElse(one.get(), () -> more.apply(scripts(names)));
    }

    private static <T> CompletableFuture<T> orElse(
            CompletableFuture<T> work, Supplier<CompletableFuture<T>> ifKeysAreApart) {
        return work.exceptionallyCompose(thrown -> RedisFailureMapper.areKeysApart(thrown)
                ? ifKeysAreApart.get()
                : CompletableFuture.failedFuture(thrown));
    }

    private PendingCall<List<RateLimitDecision>> decisions(
            ScriptCall call, List<Charge> charges, List<byte[]> names, Deadline deadline, boolean waitedFor) {
        return dispatched(new PendingCall<>(
                call,
                charges,
                0,
                names,
                deadline,
                waitedFor,
                (reply, from) -> language.decisions(call, charges, reply, from)));
    }

    private <T> PendingCall<T> dispatched(PendingCall<T> call) {
        dispatcher.dispatch(call);
        return call;
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        CompletableFuture<ReceiptReply> call = inOneOrMore(
                names, () -> receipted(charges, names, deadline), scripts -> scripts.decide(charges, names, deadline));
        return call.thenApply(decided ->
                new RefundableDecisions(decided.decisions(), new ReceiptRefund<>(decided.taken(), this::refund)));
    }

    private CompletableFuture<ReceiptReply> receipted(List<Charge> charges, List<byte[]> names, Deadline deadline) {
        return dispatched(new PendingCall<>(
                        ScriptCall.CHARGE_WITH_RECEIPTS,
                        charges,
                        0,
                        names,
                        deadline,
                        false,
                        (reply, from) -> language.receiptedCall(charges, reply, from)))
                .outcome();
    }

    @Override
    public CompletionStage<Lease> lease(Charge charge, long more) {
        List<Charge> charges = List.of(charge);
        PendingCall<LeaseReply> call = dispatched(new PendingCall<>(
                ScriptCall.LEASE,
                charges,
                more,
                names(charges),
                redis.deadline(),
                false,
                (reply, from) -> language.leasedCall(charge, reply, from)));
        return call.outcome()
                .thenApply(leased -> new Lease(
                        leased.decision(), leased.more(), new RedisLease(charge, leased.receipt(), leaseReturns)));
    }

    @Override
    public CompletionStage<Void> refundLeases(List<LeaseRemainder> remainders) {
        return leaseReturns.giveBack(remainders);
    }

    @Override
    public int affordableRefunds() {
        return leaseReturns.affordable();
    }

    /** What a refund changes in a long log is much for a script, so each log has one of its own. */
    private CompletionStage<Void> refund(Map<Charge, Receipt> taken) {
        List<Charge> others = new ArrayList<>();
        List<CompletableFuture<Void>> scripts = new ArrayList<>();
        for (Charge charge : taken.keySet()) {
            if (AlgorithmTraits.of(charge.limit()).hasEntries()) {
                scripts.add(refund(List.of(charge), taken));
            } else {
                others.add(charge);
            }
        }
        if (!others.isEmpty()) {
            scripts.add(refund(others, taken));
        }
        return CompletableFuture.allOf(scripts.toArray(CompletableFuture[]::new));
    }

    private CompletableFuture<Void> refund(List<Charge> charges, Map<Charge, Receipt> taken) {
        List<Receipt> receipts = charges.stream().map(taken::get).toList();
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        return inOneOrMore(
                names,
                () -> redis.executeInBackground(names, language.giveBackArguments(charges, receipts), deadline)
                        .thenAccept(reply -> {}),
                scripts -> scripts.giveBack(charges, names, receipts, deadline));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        return decisions(ScriptCall.LOOK, charges, names(charges), redis.deadline(), true)
                .await()
                .get(0);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        Deadline deadline = redis.deadline();
        now(redis.delete(keys.name(limit, key), deadline), deadline);
    }

    @Override
    public CompletionStage<Void> check() {
        return redis.check();
    }

    /** The work ends at the deadline by itself; the last moment is for when it does not. */
    private static <T> T now(CompletableFuture<T> work, Deadline deadline) {
        BoundedWait.await(work, deadline::nanosLeftAtLast);
        return BoundedWait.result(work);
    }

    private List<byte[]> names(List<Charge> charges) {
        if (charges.size() == 1) {
            return List.of(keys.name(charges.get(0).limit(), charges.get(0).key()));
        }
        List<byte[]> names = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            byte[] name = keys.name(charge.limit(), charge.key());
            if (names.stream().anyMatch(other -> Arrays.equals(other, name))) {
                throw new IllegalArgumentException("Two charges of one call are for the same bucket");
            }
            names.add(name);
        }
        return names;
    }
}
