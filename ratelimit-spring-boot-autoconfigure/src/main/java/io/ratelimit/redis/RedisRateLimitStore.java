package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.ReceiptRefund;
import io.ratelimit.RefundableDecisions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Decides in Redis: all charges of a call in one script, by the server's clock. On a cluster, charges of different keys
 * take a script for each slot.
 */
public final class RedisRateLimitStore implements RateLimitStore {

    private final GuardedRedis redis;

    private final BucketKeys keys;

    private final ScriptLanguage language = new ScriptLanguage();

    private final SlotBySlot slotBySlot;

    /** @param keyPrefix what the name of every bucket begins with; no braces */
    public RedisRateLimitStore(GuardedRedis redis, String keyPrefix) {
        this.redis = redis;
        this.keys = new BucketKeys(keyPrefix);
        this.slotBySlot = new SlotBySlot(redis, language);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return now(start(charges));
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return elsewhere(start(charges));
    }

    private CompletableFuture<List<RateLimitDecision>> start(List<Charge> charges) {
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        return needsSlotBySlot(names)
                ? slotBySlot.decide(charges, names, deadline).thenApply(ReceiptedCall::decisions)
                : run(ScriptCall.CHARGE, charges, names, deadline);
    }

    private CompletableFuture<List<RateLimitDecision>> run(
            ScriptCall call, List<Charge> charges, List<byte[]> names, Deadline deadline) {
        return redis.execute(names, language.arguments(call, charges), deadline)
                .thenApply(reply -> language.decisions(charges, reply));
    }

    private boolean needsSlotBySlot(List<byte[]> names) {
        return names.size() > 1 && redis.isClustered() && SlotBySlot.isNeeded(names);
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        CompletableFuture<ReceiptedCall> call = needsSlotBySlot(names)
                ? slotBySlot.decide(charges, names, deadline)
                : redis.execute(names, language.arguments(ScriptCall.CHARGE_WITH_RECEIPTS, charges), deadline)
                        .thenApply(reply -> language.receiptedCall(charges, reply));
        return elsewhere(call.thenApply(decided ->
                new RefundableDecisions(decided.decisions(), new ReceiptRefund<>(decided.taken(), this::giveBack))));
    }

    private CompletionStage<Void> giveBack(Map<Charge, Receipt> taken) {
        List<Charge> charges = List.copyOf(taken.keySet());
        List<Receipt> receipts = charges.stream().map(taken::get).toList();
        List<byte[]> names = names(charges);
        Deadline deadline = redis.deadline();
        return elsewhere(
                needsSlotBySlot(names)
                        ? slotBySlot.giveBack(charges, names, receipts, deadline)
                        : redis.execute(names, language.giveBackArguments(charges, receipts), deadline)
                                .thenAccept(reply -> {}));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        return now(run(ScriptCall.LOOK, charges, names(charges), redis.deadline()))
                .get(0);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        now(redis.delete(keys.name(limit, key), redis.deadline()));
    }

    @Override
    public CompletionStage<Void> check() {
        return elsewhere(redis.check());
    }

    private static <T> T now(CompletableFuture<T> work) {
        try {
            return work.join();
        } catch (CompletionException ex) {
            throw ex.getCause() instanceof RuntimeException failure ? failure : ex;
        }
    }

    /** What follows a failure that took time is not done in the timer's thread, which has others to serve. */
    private static <T> CompletionStage<T> elsewhere(CompletableFuture<T> work) {
        return work.isDone() ? work : work.exceptionallyComposeAsync(CompletableFuture::failedFuture);
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
