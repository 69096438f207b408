package io.ratelimit.memory;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.TimeSource;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.ReceiptRefund;
import io.ratelimit.store.RefundableDecisions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this JVM. Holds a bounded number of buckets; under a flood of keys those that are used least are forgotten
 * first.
 */
public final class InMemoryRateLimitStore implements RateLimitStore {

    /** In this order all calls hold several buckets, so that none waits for another in a circle. */
    private static final Comparator<Charge> BY_BUCKET = Comparator.<Charge, String>comparing(
                    charge -> charge.limit().id())
            .thenComparing(Charge::key, Comparator.nullsFirst(Comparator.naturalOrder()));

    private final TimeSource time;

    private final BucketTable buckets;

    private final Map<RateLimit, CompiledLimit> limits = new ConcurrentHashMap<>();

    /** @param maxKeys how many buckets are held at the most, of all limits together */
    public InMemoryRateLimitStore(TimeSource time, long maxKeys) {
        this(time, maxKeys, bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** @param random which buckets a newcomer looks at when there is no room */
    InMemoryRateLimitStore(TimeSource time, long maxKeys, IntUnaryOperator random) {
        this.time = time;
        this.buckets = new BucketTable(maxKeys, InMemoryRateLimitStore::use, random);
    }

    @Override
    public RateLimitDecision decide(Charge charge) {
        CompiledLimit limit = known(charge.limit());
        Object key = BucketKey.of(charge.key());
        Bucket bucket = limit.buckets().get(key);
        RateLimitDecision decision = bucket == null ? null : bucket.decide(limit, charge.permits(), time.micros());
        return decision == null ? decideOne(limit, key, charge, ChargedPermits.Listener.NONE) : decision;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return charges.size() == 1
                ? List.of(decide(charges.get(0)))
                : decideTogether(charges, ChargedPermits.Listener.NONE);
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public CompletionStage<RefundableDecisions> decideRefundably(List<Charge> charges) {
        Map<Charge, ChargedPermits> taken = new HashMap<>();
        List<RateLimitDecision> decisions = decide(
                charges, (charge, bucket, charged) -> taken.put(charge, new ChargedPermits(bucket, charged.receipt())));
        return CompletableFuture.completedFuture(
                new RefundableDecisions(decisions, new ReceiptRefund<>(taken, this::refund)));
    }

    private List<RateLimitDecision> decide(List<Charge> charges, ChargedPermits.Listener listener) {
        if (charges.size() > 1) {
            return decideTogether(charges, listener);
        }
        Charge charge = charges.get(0);
        return List.of(decideOne(known(charge.limit()), BucketKey.of(charge.key()), charge, listener));
    }

    private CompletionStage<Void> refund(Map<Charge, ChargedPermits> taken) {
        taken.forEach(
                (charge, from) -> from.bucket().change(state -> without(charge, from.receipt(), state, time.micros())));
        return CompletableFuture.completedFuture(null);
    }

    private @Nullable BucketState without(Charge charge, CounterState receipt, BucketState last, long clock) {
        Rule<?> rule = known(charge.limit()).rule();
        ClockSkew lag = BucketState.lag(last, clock);
        long now = lag == null ? clock : lag.seen();
        BucketState state = BucketState.of(rule, last, lag, now);
        return !last.hasSection(rule) || state.own().used(now) == 0
                ? last
                : state.giveBack(now, charge.permits(), receipt).settled(now);
    }

    @Override
    public boolean isNonBlocking() {
        return true;
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        CompiledLimit limit = known(charge.limit());
        Bucket bucket = buckets.get(limit, BucketKey.of(charge.key()));
        BucketState state = bucket == null ? null : bucket.hold(bucket::read);
        return new Assessment(limit, state, time.micros(), charge.permits()).decision(false);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        buckets.remove(known(limit), BucketKey.of(key));
    }

    private RateLimitDecision decideOne(
            CompiledLimit limit, Object key, Charge charge, ChargedPermits.Listener listener) {
        while (true) {
            Bucket bucket = buckets.get(limit, key);
            RateLimitDecision decision = bucket == null
                    ? decideUnused(limit, key, charge, listener)
                    : decideFound(bucket, limit, charge, listener);
            if (decision != null) {
                return decision;
            }
        }
    }

    /** Only who takes something needs a bucket. */
    private @Nullable RateLimitDecision decideUnused(
            CompiledLimit limit, Object key, Charge charge, ChargedPermits.Listener listener) {
        long now = time.micros();
        Assessment assessment = new Assessment(limit, null, now, charge.permits());
        BucketState next = assessment.next(assessment.fits());
        if (next == null) {
            return assessment.decision(false);
        }
        Bucket fresh = new Bucket(limit, key, next);
        if (!buckets.add(fresh, now)) {
            return null;
        }
        listener.onCharge(charge, fresh, assessment);
        return assessment.decision(true);
    }

    private @Nullable RateLimitDecision decideFound(
            Bucket bucket, CompiledLimit limit, Charge charge, ChargedPermits.Listener listener) {
        Assessment assessment = bucket.hold(() -> {
            // Read after the state, the clock never shows less than the state has seen, unless it went back.
            Assessment now = new Assessment(limit, bucket.read(), time.micros(), charge.permits());
            bucket.write(now.next(now.fits()));
            return now;
        });
        if (assessment == null) {
            return null;
        }
        if (assessment.fits() && charge.permits() > 0) {
            listener.onCharge(charge, bucket, assessment);
        }
        return assessment.decision(assessment.fits());
    }

    private List<RateLimitDecision> decideTogether(List<Charge> charges, ChargedPermits.Listener listener) {
        SortedSet<Charge> sorted = new TreeSet<>(BY_BUCKET);
        sorted.addAll(charges);
        if (sorted.size() < charges.size()) {
            throw new IllegalArgumentException("Two charges of one call are for the same bucket");
        }
        Map<Charge, Held> held = new HashMap<>();
        return holding(
                List.copyOf(sorted),
                held,
                () -> decideHeld(charges, charges.stream().map(held::get).toList(), listener));
    }

    /** Does something while all buckets are held, one after the other. */
    private <T> T holding(List<Charge> charges, Map<Charge, Held> held, Supplier<T> work) {
        if (charges.isEmpty()) {
            return work.get();
        }
        Charge charge = charges.get(0);
        CompiledLimit limit = known(charge.limit());
        Object key = BucketKey.of(charge.key());
        while (true) {
            Bucket found = buckets.get(limit, key);
            Bucket bucket = found == null ? new Bucket(limit, key, null) : found;
            try {
                T result = bucket.hold(() -> {
                    if (found == null && !buckets.add(bucket, time.micros())) {
                        return null;
                    }
                    held.put(charge, new Held(bucket, limit));
                    return holding(charges.subList(1, charges.size()), held, work);
                });
                if (result != null) {
                    return result;
                }
            } finally {
                // Another may stay, as after a call with one limit: receipts name it.
                if (found == null) {
                    buckets.removeUnused(bucket);
                }
            }
        }
    }

    private List<RateLimitDecision> decideHeld(
            List<Charge> charges, List<Held> held, ChargedPermits.Listener listener) {
        long now = time.micros();
        List<Assessment> assessments = new ArrayList<>(charges.size());
        boolean rejected = false;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Assessment assessment =
                    new Assessment(held.get(i).limit(), held.get(i).bucket().read(), now, charge.permits());
            assessments.add(assessment);
            rejected |= !assessment.fits() && !charge.limit().dryRun();
        }
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Assessment assessment = assessments.get(i);
            boolean charged = assessment.fits() && (!rejected || charge.limit().dryRun());
            held.get(i).bucket().write(assessment.next(charged));
            decisions.add(assessment.decision(charged));
            if (charged && charge.permits() > 0) {
                listener.onCharge(charge, held.get(i).bucket(), assessment);
            }
        }
        return decisions;
    }

    private CompiledLimit known(RateLimit limit) {
        CompiledLimit known = limits.get(limit);
        return known != null
                ? known
                : limits.computeIfAbsent(limit, unknown -> CompiledLimit.of(unknown, buckets.of(unknown.id())));
    }

    private static EvictionPriority use(CompiledLimit limit, @Nullable BucketState state, long clock) {
        return new Assessment(limit, state, clock, 0).use();
    }

    /** A bucket that a call with several limits holds. */
    private record Held(Bucket bucket, CompiledLimit limit) {}
}
