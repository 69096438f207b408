package io.ratelimit.store.lease;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.ReceiptRefund;
import io.ratelimit.store.Refund;
import io.ratelimit.store.RefundableDecisions;
import io.ratelimit.store.lease.LeasedPermits.Portion;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A call of which stocks cover some charges, or all. If the rest is rejected or not decided, they have it back. */
final class PartlyLeasedCall {

    private final List<Charge> charges;

    private final LongSupplier nanos;

    private final Map<Charge, Portion> taken = new HashMap<>();

    private final Map<Charge, RateLimitDecision> decisions = new HashMap<>();

    private final List<Charge> rest = new ArrayList<>();

    /** @param nanos a clock */
    PartlyLeasedCall(List<Charge> charges, LongSupplier nanos) {
        this.charges = charges;
        this.nanos = nanos;
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

    void takeFrom(@Nullable LeasedPermits stock, Charge charge) {
        long now = nanos.getAsLong();
        Portion portion = stock == null ? null : stock.takePortion(charge.permits(), now);
        if (portion == null) {
            rest.add(charge);
        } else {
            taken.put(charge, portion);
            decisions.put(charge, portion.decision(now));
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

    /** With what the store has made of the rest, or has failed to. */
    RefundableDecisions decided(@Nullable RefundableDecisions others, @Nullable Throwable thrown) {
        if (others == null) {
            putBack();
            throw Futures.wrap(thrown);
        }
        return decided(others);
    }

    /** The rest was not decided. */
    void putBack() {
        taken.values().forEach(portion -> portion.putBack(nanos.getAsLong()));
    }

    /** With what the store has made of the rest. */
    RefundableDecisions decided(RefundableDecisions others) {
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
                    entry.getValue().putBack(nanos.getAsLong());
                }
                return binds;
            });
        }
        RefundableDecisions all = decided();
        return new RefundableDecisions(
                all.decisions(),
                some -> CompletableFuture.allOf(
                        all.refund().refund(some).toCompletableFuture(),
                        others.refund()
                                .refund(some.stream().filter(rest::contains).toList())
                                .toCompletableFuture()));
    }

    private Refund refund() {
        return new ReceiptRefund<>(
                taken,
                refunded -> CompletableFuture.allOf(refunded.values().stream()
                        .map(portion -> portion.refund().toCompletableFuture())
                        .toArray(CompletableFuture[]::new)));
    }
}
