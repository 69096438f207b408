package io.ratelimit.redis;

import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/** Holds the receipt of a lease, and refunds its permits. */
final class RedisLease implements Lease.Unused {

    private final Charge charge;

    private final AtomicReference<Receipt> receipt;

    private final LeaseRefunds refunds;

    RedisLease(Charge charge, Receipt receipt, LeaseRefunds refunds) {
        this.charge = charge;
        this.receipt = new AtomicReference<>(receipt);
        this.refunds = refunds;
    }

    Charge chargeOf(long permits) {
        return new Charge(charge.limit(), charge.key(), permits);
    }

    /** Returns the receipt for a refund of some of the permits, which then count as refunded. */
    Receipt takeReceipt(long permits) {
        return receipt.getAndUpdate(present -> present.without(permits));
    }

    @Override
    public CompletionStage<Void> refund(long permits) {
        return refunds.refund(List.of(new Lease(permits, this)));
    }

    @Override
    public CompletionStage<Void> refund(List<Lease> leases) {
        return refunds.refund(leases);
    }

    @Override
    public int affordable() {
        return refunds.affordable();
    }

    @Override
    public boolean isAvailable() {
        return refunds.isAvailable(charge);
    }
}
