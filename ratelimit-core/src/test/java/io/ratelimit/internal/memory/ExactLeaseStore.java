package io.ratelimit.internal.memory;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.Refill;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Leases as Redis does, by the rules in memory: of what is left after the call, half at the most. */
public final class ExactLeaseStore implements RateLimitStore {

    private final TimeSource clock;

    private final Map<String, Bucket> buckets = new HashMap<>();

    private volatile @Nullable RateLimit unavailable;

    private static final class Bucket {

        private final Rule<CounterState> rule;

        private CounterState usage;

        /** Until when permits that were leased are to be back; later for each lease. */
        private long leased;

        @SuppressWarnings("unchecked")
        Bucket(RateLimit limit, long now) {
            rule = (Rule<CounterState>) Rule.of(limit);
            usage = rule.unused(now);
        }
    }

    public ExactLeaseStore(TimeSource clock) {
        this.clock = clock;
    }

    /** Takes back no leases of a limit. */
    public void unavailable(@Nullable RateLimit limit) {
        unavailable = limit;
    }

    private Bucket bucket(Charge charge) {
        Bucket bucket = buckets.computeIfAbsent(
                charge.limit().id() + " " + charge.key(), name -> new Bucket(charge.limit(), clock.micros()));
        bucket.usage = bucket.rule.recover(bucket.usage, clock.micros());
        if (bucket.usage.used() == 0) {
            bucket.leased = 0;
        }
        return bucket;
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        Bucket bucket = bucket(charge);
        bucket.usage = bucket.rule.force(bucket.usage, clock.micros(), charge.permits(), null);
        return CompletableFuture.completedFuture(null);
    }

    private StoreOutcome lease(Charge charge, long more) {
        Bucket bucket = bucket(charge);
        long left = left(bucket);
        if (charge.permits() > left) {
            return StoreOutcome.of(charge, peek(charge)).with(Lease.NONE);
        }
        long taken = Math.min(more, (left - charge.permits()) / 2);
        bucket.usage = bucket.rule.take(bucket.usage, clock.micros(), charge.permits() + taken);
        long receipt = clock.micros();
        if (taken > 0) {
            receipt = Math.max(bucket.leased + 1, receipt + bucket.rule.timeUntil(0, bucket.usage, receipt));
            bucket.leased = receipt;
        }
        Lease lease = new Lease(taken, unused(charge, receipt, bucket.usage.receipt()));
        return StoreOutcome.of(charge, decision(charge, bucket, 0)).with(lease);
    }

    private Lease.Unused unused(Charge charge, long time, CounterState receipt) {
        long[] before = {0};
        return new Lease.Unused() {
            @Override
            public CompletionStage<Void> refund(long permits) {
                if (!isAvailable()) {
                    return CompletableFuture.failedFuture(
                            new RateLimitStoreException(RateLimitStoreException.Reason.ERROR, "down", null));
                }
                refundLease(charge, permits, time, receipt, before);
                return CompletableFuture.completedFuture(null);
            }

            @Override
            public boolean isAvailable() {
                return !charge.limit().equals(unavailable);
            }
        };
    }

    private synchronized void refundLease(Charge charge, long permits, long time, CounterState receipt, long[] before) {
        Bucket bucket = bucket(charge);
        boolean even = charge.limit().algorithm() == Algorithm.TOKEN_BUCKET
                && charge.limit().refill() == Refill.CONTINUOUS;
        if (bucket.rule.used(bucket.usage, clock.micros()) > 0 && (!even || time >= bucket.leased)) {
            CounterState left =
                    new CounterState(receipt.used() - before[0], receipt.since(), receipt.rest(), receipt.gaps());
            bucket.usage = bucket.rule.refund(bucket.usage, clock.micros(), permits, left);
            before[0] += permits;
        }
    }

    private long left(Bucket bucket) {
        return bucket.rule.capacity() - bucket.rule.used(bucket.usage, clock.micros());
    }

    private RateLimitDecision decision(Charge charge, Bucket bucket, long retry) {
        long used = bucket.rule.used(bucket.usage, clock.micros());
        long reset = used == 0 ? 0 : bucket.rule.timeUntil(0, bucket.usage, clock.micros());
        return RateLimitDecision.ofMicros(charge.limit().capacity(), left(bucket), 0, retry, reset);
    }

    private RateLimitDecision peek(Charge charge) {
        Bucket bucket = bucket(charge);
        long most = charge.limit().capacity() - charge.permits();
        boolean fits = charge.permits() <= left(bucket);
        return decision(charge, bucket, fits ? 0 : bucket.rule.timeUntil(most, bucket.usage, clock.micros()));
    }

    @Override
    public synchronized StoreOutcome decide(StoreRequest request) {
        List<Charge> charges = request.charges();
        if (request.isPeek()) {
            return StoreOutcome.of(request, peek(request.first()));
        }
        if (request.more() > 0) {
            return lease(charges.get(0), request.more());
        }
        boolean rejected = charges.stream()
                .anyMatch(charge -> !charge.limit().dryRun() && !peek(charge).allowed());
        List<RateLimitDecision> decisions = new ArrayList<>();
        Map<Charge, Lease> leases = new HashMap<>();
        for (Charge charge : charges) {
            if (rejected && !charge.limit().dryRun()) {
                decisions.add(peek(charge));
            } else {
                StoreOutcome outcome = lease(charge, 0);
                decisions.add(outcome.decision());
                leases.put(charge, outcome.lease());
            }
        }
        return StoreOutcome.of(request, decisions, some -> {
            some.keySet().stream()
                    .filter(leases::containsKey)
                    .forEach(charge -> leases.remove(charge).unused().refund(some.get(charge)));
            return CompletableFuture.completedFuture(null);
        });
    }

    @Override
    public synchronized CompletionStage<BucketStatus> change(RateLimit limit, String key, BucketChange change) {
        if (change.equals(BucketChange.RESET)) {
            buckets.remove(limit.id() + " " + key);
        }
        return CompletableFuture.completedFuture(null);
    }
}
