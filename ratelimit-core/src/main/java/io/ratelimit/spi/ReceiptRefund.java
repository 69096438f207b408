package io.ratelimit.spi;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * Refunds charges by the receipts that the store has made for them. A receipt is removed before the store is called, so
 * nothing is refunded twice, not even if the store fails after it has refunded.
 *
 * @param <R> what the store needs in order to refund a charge
 */
public final class ReceiptRefund<R> implements Refund {

    private final Map<Charge, R> receipts;

    private final BiFunction<Map<Charge, R>, Map<Charge, Long>, CompletionStage<Void>> store;

    /**
     * Makes a refund for the charges that have taken something.
     *
     * @param receipts one for each of them
     * @param store refunds charges, at least one, by their receipts; the second map holds how many permits of each
     */
    public ReceiptRefund(
            Map<Charge, R> receipts, BiFunction<Map<Charge, R>, Map<Charge, Long>, CompletionStage<Void>> store) {
        this.receipts = new ConcurrentHashMap<>(receipts);
        this.store = store;
    }

    @Override
    public CompletionStage<Void> refund(Map<Charge, Long> permits) {
        Map<Charge, R> taken = new LinkedHashMap<>();
        for (Charge charge : permits.keySet()) {
            R receipt = receipts.remove(charge);
            if (receipt != null) {
                taken.put(charge, receipt);
            }
        }
        return taken.isEmpty() ? CompletableFuture.completedFuture(null) : store.apply(taken, permits);
    }
}
