package io.ratelimit.memory;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.ReceiptRefund;
import io.ratelimit.RefundableDecisions;
import io.ratelimit.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this JVM. Holds a bounded number of buckets; under a flood of keys those that are used least are forgotten
 * first.
 */
public final class InMemoryRateLimitStore implements RateLimitStore {

    private final TimeSource time;

    private final BucketTable buckets;

    private final Map<RateLimit, Rule<?>> rules = new ConcurrentHashMap<>();

    /** @param maxKeys how many buckets are held at the most, of all limits together */
    public InMemoryRateLimitStore(TimeSource time, long maxKeys) {
        this.time = time;
        this.buckets = new BucketTable(maxKeys, this::use);
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return decide(charges, Taken.Listener.NONE);
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        Map<Charge, Taken> taken = new HashMap<>();
        List<RateLimitDecision> decisions =
                decide(charges, (charge, bucket, charged) -> taken.put(charge, new Taken(bucket, charged.receipt())));
        return CompletableFuture.completedFuture(
                new RefundableDecisions(decisions, new ReceiptRefund<>(taken, this::giveBack)));
    }

    private List<RateLimitDecision> decide(List<Charge> charges, Taken.Listener listener) {
        return charges.size() == 1 ? List.of(decideOne(charges.get(0), listener)) : decideTogether(charges, listener);
    }

    private CompletionStage<Void> giveBack(Map<Charge, Taken> taken) {
        taken.forEach(
                (charge, from) -> from.bucket().change(state -> without(charge, from.receipt(), state, time.micros())));
        return CompletableFuture.completedFuture(null);
    }

    private @Nullable BucketState without(Charge charge, Count receipt, BucketState last, long clock) {
        Rule<?> rule = rule(charge.limit());
        Lag lag = BucketState.lag(last, clock);
        long now = lag == null ? clock : lag.seen();
        BucketState state = BucketState.of(rule, last, lag, now);
        return !last.hasSection(rule) || state.own().used(now) == 0
                ? last
                : state.giveBack(now, charge.permits(), receipt).settled(now);
    }

    @Override
    public boolean answersAtOnce() {
        return true;
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        Bucket known = buckets.get(key(charge.limit(), charge.key()));
        return assess(charge, known == null ? null : known.get(), time.micros()).decision(false);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        buckets.remove(key(limit, key));
    }

    private RateLimitDecision decideOne(Charge charge, Taken.Listener listener) {
        BucketKey key = key(charge.limit(), charge.key());
        while (true) {
            Bucket bucket = buckets.get(key);
            BucketState last = bucket == null ? null : bucket.get();
            // Read after the state, the clock never shows less than the state has seen, unless it went back.
            long now = time.micros();
            Assessment assessment = assess(charge, last, now);
            BucketState next = assessment.next(assessment.fits());
            Bucket changed = bucket == null ? new Bucket(key, charge.limit(), next) : bucket;
            boolean done = bucket == null ? next == null || buckets.add(changed, now) : bucket.replace(last, next);
            if (done) {
                if (assessment.fits() && charge.permits() > 0) {
                    listener.onCharge(charge, changed, assessment);
                }
                return assessment.decision(assessment.fits());
            }
        }
    }

    private List<RateLimitDecision> decideTogether(List<Charge> charges, Taken.Listener listener) {
        SortedMap<BucketKey, Charge> sorted = new TreeMap<>();
        charges.forEach(charge -> sorted.put(key(charge.limit(), charge.key()), charge));
        if (sorted.size() < charges.size()) {
            throw new IllegalArgumentException("Two charges of one call are for the same bucket");
        }
        Map<Charge, Bucket> held = new HashMap<>();
        Map<Bucket, @Nullable BucketState> states = new HashMap<>();
        try {
            // In the order of the keys, the same for all calls, so that none waits for another in a circle.
            sorted.forEach((key, charge) -> {
                Bucket bucket = hold(key, charge.limit());
                states.put(bucket, bucket.found());
                held.put(charge, bucket);
            });
            return decideHeld(charges, charges.stream().map(held::get).toList(), states, listener);
        } finally {
            states.forEach(this::release);
        }
    }

    private Bucket hold(BucketKey key, RateLimit limit) {
        while (true) {
            Bucket bucket = buckets.get(key);
            if (bucket == null) {
                Bucket fresh = Bucket.held(key, limit);
                if (buckets.add(fresh, time.micros())) {
                    return fresh;
                }
            } else if (bucket.hold()) {
                return bucket;
            }
        }
    }

    private void release(Bucket bucket, @Nullable BucketState next) {
        // Another may stay, as after a call with one limit: receipts name it.
        boolean needless = next == null && bucket.isFresh();
        bucket.release(next);
        if (needless) {
            buckets.removeUnused(bucket);
        }
    }

    private List<RateLimitDecision> decideHeld(
            List<Charge> charges,
            List<Bucket> held,
            Map<Bucket, @Nullable BucketState> states,
            Taken.Listener listener) {
        long now = time.micros();
        List<Assessment> assessments = new ArrayList<>(charges.size());
        boolean rejected = false;
        for (int i = 0; i < charges.size(); i++) {
            Assessment assessment = assess(charges.get(i), states.get(held.get(i)), now);
            assessments.add(assessment);
            rejected |= !assessment.fits() && !charges.get(i).limit().dryRun();
        }
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            Assessment assessment = assessments.get(i);
            boolean charged =
                    assessment.fits() && (!rejected || charges.get(i).limit().dryRun());
            states.put(held.get(i), assessment.next(charged));
            decisions.add(assessment.decision(charged));
            if (charged && charges.get(i).permits() > 0) {
                listener.onCharge(charges.get(i), held.get(i), assessment);
            }
        }
        return decisions;
    }

    private Assessment assess(Charge charge, @Nullable BucketState last, long now) {
        return new Assessment(charge.limit(), rule(charge.limit()), last, now, charge.permits());
    }

    private Rule<?> rule(RateLimit limit) {
        Rule<?> known = rules.get(limit);
        return known != null ? known : rules.computeIfAbsent(limit, Rule::of);
    }

    private BucketUse use(RateLimit limit, @Nullable BucketState state, long now) {
        RateLimitDecision seen = new Assessment(limit, rule(limit), state, now, 0).decision(false);
        return new BucketUse(1 - (double) seen.remaining() / seen.capacity(), seen.resetAfter());
    }

    private static BucketKey key(RateLimit limit, @Nullable String key) {
        return BucketKey.of(limit, key);
    }
}
