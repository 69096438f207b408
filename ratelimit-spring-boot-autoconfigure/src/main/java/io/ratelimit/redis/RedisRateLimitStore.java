package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.ReceiptRefund;
import io.ratelimit.RefundableDecisions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides in Redis: all charges of a call in one script, by the server's clock. On a cluster, charges of different keys
 * take a script for each slot.
 */
public final class RedisRateLimitStore implements RateLimitStore {

    private final RateLimitScriptExecutor executor;

    private final BucketKeys keys;

    private final ScriptLanguage language = new ScriptLanguage();

    private final SlotBySlot slotBySlot;

    /** @param keyPrefix what the name of every bucket begins with; no braces */
    public RedisRateLimitStore(RateLimitScriptExecutor executor, String keyPrefix) {
        this.executor = executor;
        this.keys = new BucketKeys(keyPrefix);
        this.slotBySlot = new SlotBySlot(executor, language);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        List<byte[]> names = names(charges);
        try {
            return needsSlotBySlot(names)
                    ? slotBySlot.decide(charges, names).join().decisions()
                    : run(ScriptCall.CHARGE, charges, names);
        } catch (RuntimeException ex) {
            throw failure(ex);
        }
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        List<byte[]> names = names(charges);
        return orFailure(() -> needsSlotBySlot(names)
                ? slotBySlot.decide(charges, names).thenApply(ReceiptedCall::decisions)
                : executor.executeAsync(names, language.arguments(ScriptCall.CHARGE, charges))
                        .thenApply(reply -> language.decisions(charges, reply)));
    }

    private boolean needsSlotBySlot(List<byte[]> names) {
        return names.size() > 1 && executor.isClustered() && SlotBySlot.isNeeded(names);
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        List<byte[]> names = names(charges);
        CompletionStage<ReceiptedCall> call = orFailure(() -> needsSlotBySlot(names)
                ? slotBySlot.decide(charges, names)
                : executor.executeAsync(names, language.arguments(ScriptCall.CHARGE_WITH_RECEIPTS, charges))
                        .thenApply(reply -> language.receiptedCall(charges, reply)));
        return call.thenApply(decided ->
                new RefundableDecisions(decided.decisions(), new ReceiptRefund<>(decided.taken(), this::giveBack)));
    }

    private CompletionStage<Void> giveBack(Map<Charge, Receipt> taken) {
        List<Charge> charges = List.copyOf(taken.keySet());
        List<Receipt> receipts = charges.stream().map(taken::get).toList();
        List<byte[]> names = names(charges);
        return orFailure(() -> needsSlotBySlot(names)
                ? slotBySlot.giveBack(charges, names, receipts)
                : executor.executeAsync(names, language.giveBackArguments(charges, receipts))
                        .thenAccept(reply -> {}));
    }

    private static <T> CompletionStage<T> orFailure(Supplier<CompletionStage<T>> work) {
        CompletionStage<T> stage;
        try {
            stage = work.get();
        } catch (RuntimeException ex) {
            stage = CompletableFuture.failedFuture(ex);
        }
        return stage.handle((result, thrown) -> {
            if (thrown != null) {
                throw failure(thrown);
            }
            return result;
        });
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        try {
            return run(ScriptCall.LOOK, charges, names(charges)).get(0);
        } catch (RuntimeException ex) {
            throw failure(ex);
        }
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        try {
            executor.delete(keys.name(limit, key));
        } catch (RuntimeException ex) {
            throw failure(ex);
        }
    }

    private List<RateLimitDecision> run(ScriptCall call, List<Charge> charges, List<byte[]> names) {
        return language.decisions(charges, executor.execute(names, language.arguments(call, charges)));
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

    private static RateLimitStoreException failure(Throwable thrown) {
        Throwable root = thrown;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof RateLimitStoreException known) {
                return known;
            }
            // By name, because drivers have exceptions of their own for it.
            if (cause.getClass().getSimpleName().endsWith("TimeoutException")) {
                return new RateLimitStoreException(Reason.TIMEOUT, "Redis: no answer in time", thrown);
            }
            root = cause;
        }
        String message = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
        return new RateLimitStoreException(Reason.ERROR, "Redis: " + message, thrown);
    }
}
