package io.ratelimit.redis.settlement;

import io.ratelimit.redis.script.Receipt;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;

/** Holds the receipt of a lease, and refunds its permits. */
final class RedisLease implements Lease.Unused {

    private final Charge charge;

    private final AtomicReference<Receipt> receipt;

    private final Duration resetAfter;

    private final long since;

    private final LeaseRefunds refunds;

    /**
     * @param resetAfter when its permits are back by time
     * @param since the time, in nanoseconds, from which that counts
     */
    RedisLease(Charge charge, Receipt receipt, Duration resetAfter, long since, LeaseRefunds refunds) {
        this.charge = charge;
        this.receipt = new AtomicReference<>(receipt);
        this.resetAfter = resetAfter;
        this.since = since;
        this.refunds = refunds;
    }

    /** Returns whether its permits are back by time. Redis cannot tell if its clock was set back meanwhile. */
    boolean isBack(long nanos) {
        return resetAfter.compareTo(Duration.ofNanos(nanos - since)) <= 0;
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
