package io.ratelimit.memory;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.Lease;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.Refill;
import io.ratelimit.RefundableDecisions;
import io.ratelimit.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Leases as Redis does, by the rules in memory: of what is left after the call, half at the most. */
public final class ExactLeaseStore implements RateLimitStore {

    private final TimeSource time;

    private final Map<String, Bucket> buckets = new HashMap<>();

    private static final class Bucket {

        private final Rule<Count> rule;

        private Count usage;

        private long charges;

        @SuppressWarnings("unchecked")
        Bucket(RateLimit limit, long now) {
            rule = (Rule<Count>) Rule.of(limit);
            usage = rule.unused(now);
        }
    }

    public ExactLeaseStore(TimeSource time) {
        this.time = time;
    }

    private Bucket bucket(Charge charge) {
        Bucket bucket = buckets.computeIfAbsent(
                charge.limit().id() + " " + charge.key(), name -> new Bucket(charge.limit(), time.micros()));
        bucket.usage = bucket.rule.recover(bucket.usage, time.micros());
        return bucket;
    }

    @Override
    public synchronized CompletionStage<Lease> lease(Charge charge, long more) {
        Bucket bucket = bucket(charge);
        long left = left(bucket);
        if (charge.permits() > left) {
            return CompletableFuture.completedFuture(new Lease(peek(charge), 0, permits -> null));
        }
        long taken = Math.min(more, (left - charge.permits()) / 2);
        bucket.usage = bucket.rule.take(bucket.usage, time.micros(), charge.permits() + taken);
        bucket.charges++;
        return CompletableFuture.completedFuture(
                new Lease(decision(charge, bucket, 0), taken, unused(charge, bucket.charges, bucket.usage)));
    }

    private Lease.Unused unused(Charge charge, long number, Count receipt) {
        long[] before = {0};
        return permits -> {
            synchronized (this) {
                Bucket bucket = bucket(charge);
                boolean even = charge.limit().algorithm() == Algorithm.TOKEN_BUCKET
                        && charge.limit().refill() == Refill.CONTINUOUS;
                if (bucket.rule.used(bucket.usage, time.micros()) > 0 && (!even || bucket.charges == number)) {
                    Count left = new Count(receipt.used() - before[0], receipt.since(), receipt.rest());
                    bucket.usage = bucket.rule.giveBack(bucket.usage, time.micros(), permits, left);
                    before[0] += permits;
                }
                return CompletableFuture.completedFuture(null);
            }
        };
    }

    private long left(Bucket bucket) {
        return bucket.rule.capacity() - bucket.rule.used(bucket.usage, time.micros());
    }

    private RateLimitDecision decision(Charge charge, Bucket bucket, long retry) {
        long used = bucket.rule.used(bucket.usage, time.micros());
        long reset = used == 0 ? 0 : bucket.rule.timeUntil(0, bucket.usage, time.micros());
        return RateLimitDecision.ofMicros(charge.limit().capacity(), left(bucket), 0, retry, reset);
    }

    @Override
    public synchronized RateLimitDecision peek(Charge charge) {
        Bucket bucket = bucket(charge);
        long most = charge.limit().capacity() - charge.permits();
        boolean fits = charge.permits() <= left(bucket);
        return decision(charge, bucket, fits ? 0 : bucket.rule.timeUntil(most, bucket.usage, time.micros()));
    }

    @Override
    public synchronized CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        boolean rejected = charges.stream()
                .anyMatch(charge -> !charge.limit().dryRun() && !peek(charge).allowed());
        List<RateLimitDecision> decisions = new ArrayList<>();
        Map<Charge, Lease> leases = new HashMap<>();
        for (Charge charge : charges) {
            if (rejected && !charge.limit().dryRun()) {
                decisions.add(peek(charge));
            } else {
                Lease lease = lease(charge, 0).toCompletableFuture().join();
                decisions.add(lease.decision());
                leases.put(charge, lease);
            }
        }
        return CompletableFuture.completedFuture(new RefundableDecisions(decisions, some -> {
            some.stream()
                    .filter(leases::containsKey)
                    .forEach(charge -> leases.remove(charge).unused().giveBack(charge.permits()));
            return CompletableFuture.completedFuture(null);
        }));
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return decideRefundably(charges).toCompletableFuture().join().decisions();
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public synchronized void reset(RateLimit limit, String key) {
        buckets.remove(limit.id() + " " + key);
    }
}
