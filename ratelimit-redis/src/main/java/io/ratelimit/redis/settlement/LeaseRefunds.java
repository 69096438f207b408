package io.ratelimit.redis.settlement;

import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.ScriptSeries;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Refunds unused permits of leases: of many buckets with one script, on a cluster of those in one slot. This is background work,
 * so it sends one script for each hundred that callers have sent.
 */
public final class LeaseRefunds {

    /** The largest number of buckets in a script, which takes Redis 3 ms. */
    static final int BUCKETS = 256;

    /** The number of scripts that callers send for each refund. */
    static final int SHARE = 100;

    /** The largest number of scripts under way. */
    private static final int UNDER_WAY = 8;

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final BucketNaming keys;

    private final AtomicLong sent = new AtomicLong();

    public LeaseRefunds(GuardedRedis redis, ScriptCodec codec, BucketNaming keys) {
        this.redis = redis;
        this.codec = codec;
        this.keys = keys;
    }

    /**
     * Returns what refunds the unused permits of a lease.
     *
     * @param resetAfter when the permits that are leased now are back by time
     */
    public Lease.Unused of(Charge charge, Receipt receipt, Duration resetAfter) {
        return new RedisLease(charge, receipt, resetAfter, redis.nanos(), this);
    }

    /** Returns how many leases may be refunded now, with at most one script for each hundred of callers. */
    int affordable() {
        long scripts = 1 + redis.sent() / SHARE - sent.get();
        return (int) Math.max(0, redis.isClustered() ? Math.min(scripts, BUCKETS) : Math.min(scripts, 1) * BUCKETS);
    }

    /** Returns whether a refund reaches Redis. It would be lost if not, so that the lease stays usable instead. */
    boolean isAvailable(Charge charge) {
        try {
            return redis.isAvailable(name(charge));
        } catch (RuntimeException ex) {
            // The servers of the cluster are not known.
            return false;
        }
    }

    /**
     * Refunds leases whose permits are not back yet. Fails with the first script that fails; permits that were not refunded by then
     * come back over time.
     */
    CompletableFuture<Void> refund(List<Lease> leases) {
        List<Lease> remainders = leases.stream()
                .filter(lease -> !((RedisLease) lease.unused()).isBack(redis.nanos()))
                .toList();
        return ScriptSeries.send(
                redis.bySlot(remainders, remainder -> name(charge(remainder)), remainder -> 1, BUCKETS),
                UNDER_WAY,
                false,
                this::send);
    }

    private CompletableFuture<Void> send(List<Lease> remainders) {
        List<Charge> charges = new ArrayList<>(remainders.size());
        List<Receipt> receipts = new ArrayList<>(remainders.size());
        List<byte[]> names = new ArrayList<>(remainders.size());
        for (Lease remainder : remainders) {
            Charge charge = charge(remainder);
            charges.add(charge);
            names.add(name(charge));
            receipts.add(((RedisLease) remainder.unused()).takeReceipt(remainder.permits()));
        }
        sent.incrementAndGet();
        return redis.executeInBackground(names, codec.refundArguments(charges, receipts), redis.deadline())
                .thenAccept(reply -> {});
    }

    private static Charge charge(Lease remainder) {
        return ((RedisLease) remainder.unused()).chargeOf(remainder.permits());
    }

    private byte[] name(Charge charge) {
        return keys.name(charge.limit(), charge.key());
    }
}
