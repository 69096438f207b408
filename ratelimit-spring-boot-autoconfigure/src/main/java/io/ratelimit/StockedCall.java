package io.ratelimit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A call of which stocks cover some charges, or all. If the rest is rejected or not decided, they have it back. */
final class StockedCall {

    private final List<Charge> charges;

    private final Map<Charge, Stock> taken = new HashMap<>();

    private final Map<Charge, RateLimitDecision> decisions = new HashMap<>();

    private final List<Charge> rest = new ArrayList<>();

    StockedCall(List<Charge> charges) {
        this.charges = charges;
    }

    /** @throws IllegalArgumentException if two charges are for the same bucket */
    static void checkDistinct(List<Charge> charges) {
        for (int i = 1; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charges.subList(0, i).stream()
                    .anyMatch(other -> other.limit() == charge.limit() && Objects.equals(other.key(), charge.key()))) {
                throw new IllegalArgumentException("Two charges of one call are for the same bucket");
            }
        }
    }

    void takeFrom(@Nullable Stock stock, Charge charge, long nanos) {
        long left = stock == null ? -1 : stock.take(charge.permits(), nanos);
        if (stock == null || left < 0) {
            rest.add(charge);
        } else {
            taken.put(charge, stock);
            decisions.put(charge, stock.decision(left, nanos));
        }
    }

    /** The charges that no stock covers. */
    List<Charge> rest() {
        return rest;
    }

    /** Where there is no rest. */
    RefundableDecisions decided() {
        return new RefundableDecisions(charges.stream().map(decisions::get).toList(), refund());
    }

    /** With what the store has made of the rest. */
    RefundableDecisions decided(@Nullable RefundableDecisions others, @Nullable Throwable thrown) {
        if (others == null) {
            taken.forEach((charge, stock) -> stock.takeBack(charge.permits()));
            throw thrown instanceof CompletionException ex ? ex : new CompletionException(thrown);
        }
        boolean rejected = false;
        for (int i = 0; i < rest.size(); i++) {
            decisions.put(rest.get(i), others.decisions().get(i));
            rejected |=
                    !others.decisions().get(i).allowed() && !rest.get(i).limit().dryRun();
        }
        if (rejected) {
            taken.entrySet().removeIf(entry -> {
                Charge charge = entry.getKey();
                boolean binds = !charge.limit().dryRun();
                if (binds) {
                    entry.getValue().takeBack(charge.permits());
                }
                return binds;
            });
        }
        RefundableDecisions all = decided();
        return new RefundableDecisions(
                all.decisions(),
                some -> CompletableFuture.allOf(
                        all.refund().giveBack(some).toCompletableFuture(),
                        others.refund()
                                .giveBack(some.stream().filter(rest::contains).toList())
                                .toCompletableFuture()));
    }

    private Refund refund() {
        return new ReceiptRefund<>(
                taken,
                refunded -> CompletableFuture.allOf(refunded.entrySet().stream()
                        .map(entry -> entry.getValue()
                                .takeBack(entry.getKey().permits())
                                .toCompletableFuture())
                        .toArray(CompletableFuture[]::new)));
    }
}
