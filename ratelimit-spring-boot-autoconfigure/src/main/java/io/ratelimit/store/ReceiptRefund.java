package io.ratelimit.store;

import io.ratelimit.Charge;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Gives back by receipts, which a store's charges leave. A receipt is taken away before the store is asked: so nothing is
 * given back twice, not even where a store fails after it has.
 *
 * @param <R> what the store wants to know
 */
public final class ReceiptRefund<R> implements Refund {

    private final Map<Charge, R> receipts;

    private final Function<Map<Charge, R>, CompletionStage<Void>> store;

    /**
     * Where charges have taken something.
     *
     * @param receipts of those that did
     * @param store undoes charges, at least one, by their receipts
     */
    public ReceiptRefund(Map<Charge, R> receipts, Function<Map<Charge, R>, CompletionStage<Void>> store) {
        this.receipts = new ConcurrentHashMap<>(receipts);
        this.store = store;
    }

    @Override
    public CompletionStage<Void> refund(List<Charge> charges) {
        Map<Charge, R> taken = new LinkedHashMap<>();
        for (Charge charge : charges) {
            R receipt = receipts.remove(charge);
            if (receipt != null) {
                taken.put(charge, receipt);
            }
        }
        return taken.isEmpty() ? CompletableFuture.completedFuture(null) : store.apply(taken);
    }
}
