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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

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
        return new RedisLease(charge, receipt, resetAfter);
    }

    private CompletableFuture<Void> send(List<Lease> remainders) {
        List<Charge> charges = new ArrayList<>(remainders.size());
        List<Receipt> receipts = new ArrayList<>(remainders.size());
        for (Lease remainder : remainders) {
            RedisLease lease = (RedisLease) remainder.unused();
            charges.add(new Charge(lease.charge.limit(), lease.charge.key(), remainder.permits()));
            receipts.add(lease.receipt.getAndUpdate(present -> present.without(remainder.permits())));
        }
        sent.incrementAndGet();
        return redis.executeInBackground(
                        keys.names(charges), codec.refundArguments(charges, receipts), redis.deadline())
                .thenAccept(reply -> {});
    }

    /** Refunds permits of one lease by its receipt, which then counts them as refunded. */
    private final class RedisLease implements Lease.Unused {

        private final Charge charge;

        private final AtomicReference<Receipt> receipt;

        private final Duration resetAfter;

        private final long since = redis.nanos();

        RedisLease(Charge charge, Receipt receipt, Duration resetAfter) {
            this.charge = charge;
            this.receipt = new AtomicReference<>(receipt);
            this.resetAfter = resetAfter;
        }

        /** Returns whether its permits are back by time. Redis cannot tell if its clock was set back meanwhile. */
        private boolean isBack() {
            return resetAfter.compareTo(Duration.ofNanos(redis.nanos() - since)) <= 0;
        }

        private byte[] name() {
            return keys.name(charge.limit(), charge.key());
        }

        @Override
        public CompletionStage<Void> refund(long permits) {
            return refund(List.of(new Lease(permits, this)));
        }

        /** Fails with the first script that fails; permits that were not refunded by then come back over time. */
        @Override
        public CompletionStage<Void> refund(List<Lease> leases) {
            List<Lease> remainders = leases.stream()
                    .filter(lease -> !((RedisLease) lease.unused()).isBack())
                    .toList();
            return ScriptSeries.send(
                    redis.bySlot(remainders, lease -> ((RedisLease) lease.unused()).name(), lease -> 1, BUCKETS),
                    UNDER_WAY,
                    false,
                    LeaseRefunds.this::send);
        }

        /** At most one script for each hundred of callers. */
        @Override
        public int affordable() {
            long scripts = 1 + redis.sent() / SHARE - sent.get();
            return (int) Math.max(0, redis.isClustered() ? Math.min(scripts, BUCKETS) : Math.min(scripts, 1) * BUCKETS);
        }

        /** A refund that does not reach Redis would be lost, so that the lease stays usable instead. */
        @Override
        public boolean isAvailable() {
            try {
                return redis.isAvailable(name());
            } catch (RuntimeException ex) {
                // The servers of the cluster are not known.
                return false;
            }
        }
    }
}
