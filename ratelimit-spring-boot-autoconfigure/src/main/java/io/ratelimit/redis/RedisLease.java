package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.store.Lease;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/** A lease's own receipt, and the way back to Redis. */
final class RedisLease implements Lease.Unused {

    private final Charge charge;

    private final AtomicReference<Receipt> receipt;

    private final LeaseReturns returns;

    RedisLease(Charge charge, Receipt receipt, LeaseReturns returns) {
        this.charge = charge;
        this.receipt = new AtomicReference<>(receipt);
        this.returns = returns;
    }

    Charge chargeOf(long permits) {
        return new Charge(charge.limit(), charge.key(), permits);
    }

    /** For so many permits, which are as good as refunded. */
    Receipt takeReceipt(long permits) {
        return receipt.getAndUpdate(present -> present.without(permits));
    }

    @Override
    public CompletionStage<Void> refund(long permits) {
        return returns.giveBack(List.of(new Lease(permits, this)));
    }
}
