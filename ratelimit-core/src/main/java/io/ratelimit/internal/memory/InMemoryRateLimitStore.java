package io.ratelimit.internal.memory;

import io.ratelimit.BucketStatus;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this JVM. Holds a bounded number of buckets; under a flood of keys, the least used are evicted first.
 */
public final class InMemoryRateLimitStore implements RateLimitStore {

    private final TimeSource time;

    private final BucketTable buckets;

    private final JointCall jointCall;

    /** Limits that change leave entries behind, so all are removed now and then. */
    private static final int MOST_LIMITS = 10_000;

    private final Map<RateLimit, CompiledLimit> limits = new ConcurrentHashMap<>();

    /** @param maxKeys the maximum number of buckets of all limits together */
    public InMemoryRateLimitStore(TimeSource time, long maxKeys) {
        this(time, maxKeys, () -> {});
    }

    /**
     * Creates a store.
     *
     * @param maxKeys the maximum number of buckets of all limits together
     * @param onEviction called when a bucket in use was removed to make room; must not throw
     */
    public InMemoryRateLimitStore(TimeSource time, long maxKeys, Runnable onEviction) {
        this(time, maxKeys, onEviction, bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** @param random selects the candidates for eviction */
    InMemoryRateLimitStore(TimeSource time, long maxKeys, Runnable onEviction, IntUnaryOperator random) {
        this.time = time;
        this.buckets = new BucketTable(maxKeys, InMemoryRateLimitStore::use, onEviction, random);
        this.jointCall = new JointCall(time, buckets, this::known);
    }

    /** Returns how many buckets there are. Those that are full again stay until others need their place. */
    public int size() {
        return buckets.size();
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        if (request.isPeek()) {
            return StoreOutcome.of(request, peek(request.first()));
        }
        return request.isSingle() && !request.refundable()
                ? StoreOutcome.of(request, decideOne(request.first()))
                : decideMore(request);
    }

    private RateLimitDecision decideOne(Charge charge) {
        checkRate(charge.limit());
        CompiledLimit limit = known(charge.limit());
        Object key = BucketKey.of(charge.key());
        Bucket bucket = limit.buckets().get(key);
        RateLimitDecision decision = bucket == null ? null : bucket.decide(limit, charge.permits(), time.micros());
        return decision == null ? decideOne(limit, key, charge, null) : decision;
    }

    private StoreOutcome decideMore(StoreRequest request) {
        List<Charge> charges = request.charges();
        if (!request.refundable()) {
            charges.forEach(charge -> checkRate(charge.limit()));
            return StoreOutcome.of(request, jointCall.decide(charges, null));
        }
        Map<Charge, ChargedPermits> receipts = new HashMap<>();
        List<RateLimitDecision> decisions = charges.size() == 1
                ? List.of(decideOne(charges.get(0), receipts))
                : jointCall.decide(charges, receipts);
        return StoreOutcome.of(request, decisions, new ReceiptRefund<>(receipts, this::refund));
    }

    private static void checkRate(RateLimit limit) {
        if (!limit.hasRate()) {
            throw new IllegalStateException(
                    "Limit '" + limit.name() + "' must be requested with a refund, which releases its permits");
        }
    }

    private RateLimitDecision decideOne(Charge charge, Map<Charge, ChargedPermits> receipts) {
        return decideOne(known(charge.limit()), BucketKey.of(charge.key()), charge, receipts);
    }

    /** Refunds each charge, also where an algorithm of the application fails at another. */
    private CompletionStage<Void> refund(Map<Charge, ChargedPermits> taken, Map<Charge, Long> permits) {
        return CompletableFuture.allOf(taken.entrySet().stream()
                .map(each -> CompletableFuture.runAsync(
                        () -> refund(each.getKey(), each.getValue(), permits.getOrDefault(each.getKey(), 0L)),
                        Runnable::run))
                .toArray(CompletableFuture[]::new));
    }

    /** Refunds some permits, and all that a call holds. */
    private void refund(Charge charge, ChargedPermits from, long permits) {
        Bucket bucket = from.bucket();
        long some = bucket.holdsPermits() ? charge.permits() : permits;
        bucket.change(state -> without(charge, some, from, state, time.micros()));
        if (bucket.isForgotten()) {
            buckets.removeUnused(bucket);
        }
    }

    private @Nullable BucketState without(
            Charge charge, long permits, ChargedPermits from, BucketState last, long clock) {
        Rule<?> rule = known(charge.limit()).rule();
        ClockSkew skew = BucketState.skew(last, clock);
        long now = skew == null ? clock : skew.seen();
        BucketState state = BucketState.of(rule, last, skew, now);
        return !last.hasState(rule)
                        || state.own().used(now) == 0
                        || !state.own().isRefundable(from)
                ? last
                : state.refund(now, permits, charge.permits(), from).settled(now);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        checkRate(charge.limit());
        CompiledLimit limit = known(charge.limit());
        Object key = BucketKey.of(charge.key());
        boolean charged = charge.permits() == 0;
        while (!charged) {
            Bucket bucket = buckets.get(limit, key);
            charged = bucket == null
                    ? addInDebt(limit, key, charge.permits())
                    : bucket.hold(() -> {
                                bucket.write(forced(limit, bucket.read(), time.micros(), charge.permits()));
                                return true;
                            })
                            != null;
        }
        return CompletableFuture.completedFuture(null);
    }

    private boolean addInDebt(CompiledLimit limit, Object key, long permits) {
        long now = time.micros();
        return buckets.add(new Bucket(limit, key, forced(limit, null, now, permits)), now);
    }

    private static BucketState forced(CompiledLimit limit, @Nullable BucketState last, long clock, long permits) {
        ClockSkew skew = BucketState.skew(last, clock);
        long now = skew == null ? clock : skew.seen();
        return BucketState.of(limit.rule(), last, skew, now).force(now, permits);
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return true;
    }

    private RateLimitDecision peek(Charge charge) {
        CompiledLimit limit = known(charge.limit());
        Bucket bucket = buckets.get(limit, BucketKey.of(charge.key()));
        BucketState state = bucket == null ? null : bucket.hold(bucket::read);
        return new Assessment(limit, state, time.micros(), charge.permits()).decision(false);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return limit.hasRate()
                ? 0
                : known(limit).buckets().values().stream()
                        .map(bucket -> bucket.hold(bucket::read))
                        .filter(Objects::nonNull)
                        .mapToLong(state -> state.own().used(0))
                        .sum();
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        CompiledLimit known = known(limit);
        Object name = BucketKey.of(key);
        if (change.equals(BucketChange.RESET)) {
            buckets.remove(known, name);
        }
        // What calls hold comes back when they end.
        BucketChange made = change.equals(BucketChange.RESET) || !limit.hasRate() ? BucketChange.NONE : change;
        while (true) {
            Bucket bucket = buckets.get(known, name);
            BucketStatus status = bucket == null
                    ? changeUnused(known, name, made)
                    : bucket.hold(() -> {
                        BucketState last = bucket.read();
                        ChangedBucket changed = ChangedBucket.of(known, last, time.micros(), made);
                        if (made.kind() != BucketChange.Kind.NONE) {
                            bucket.write(changed.next());
                        }
                        return changed.status();
                    });
            if (status != null) {
                return CompletableFuture.completedFuture(status);
            }
        }
    }

    /** Only a block needs a bucket. */
    private @Nullable BucketStatus changeUnused(CompiledLimit limit, Object key, BucketChange change) {
        long now = time.micros();
        ChangedBucket changed = ChangedBucket.of(limit, null, now, change);
        BucketState next = changed.next();
        return next == null || buckets.add(new Bucket(limit, key, next), now) ? changed.status() : null;
    }

    private RateLimitDecision decideOne(
            CompiledLimit limit, Object key, Charge charge, @Nullable Map<Charge, ChargedPermits> receipts) {
        while (true) {
            Bucket bucket = buckets.get(limit, key);
            RateLimitDecision decision = bucket == null
                    ? decideUnused(limit, key, charge, receipts)
                    : decideFound(bucket, limit, charge, receipts);
            if (decision != null) {
                return decision;
            }
        }
    }

    /** Only a call that takes something needs a bucket. */
    private @Nullable RateLimitDecision decideUnused(
            CompiledLimit limit, Object key, Charge charge, @Nullable Map<Charge, ChargedPermits> receipts) {
        long now = time.micros();
        Assessment assessment = new Assessment(limit, null, now, charge.permits());
        BucketState next = assessment.next(assessment.fits());
        if (next == null) {
            return assessment.decision(false);
        }
        RateLimitDecision decision = assessment.decision(true);
        Bucket fresh = new Bucket(limit, key, next);
        if (!buckets.add(fresh, now)) {
            return null;
        }
        ChargedPermits.add(receipts, charge, fresh, assessment);
        return decision;
    }

    private @Nullable RateLimitDecision decideFound(
            Bucket bucket, CompiledLimit limit, Charge charge, @Nullable Map<Charge, ChargedPermits> receipts) {
        return bucket.hold(() -> {
            // Read after the state, so that it is not before the state's time unless the clock was set back.
            Assessment assessment = new Assessment(limit, bucket.read(), time.micros(), charge.permits());
            boolean fits = assessment.fits();
            BucketState next = assessment.next(fits);
            RateLimitDecision decision = assessment.decision(fits);
            bucket.write(next);
            if (fits && charge.permits() > 0) {
                ChargedPermits.add(receipts, charge, bucket, assessment);
            }
            return decision;
        });
    }

    private CompiledLimit known(RateLimit limit) {
        CompiledLimit known = limits.get(limit);
        return known != null ? known : compiled(limit);
    }

    private CompiledLimit compiled(RateLimit limit) {
        if (limits.size() >= MOST_LIMITS) {
            limits.clear();
        }
        return limits.computeIfAbsent(limit, unknown -> CompiledLimit.of(unknown, buckets.of(unknown)));
    }

    private static EvictionPriority use(CompiledLimit limit, @Nullable BucketState state, long clock) {
        try {
            return new Assessment(limit, state, clock, 0).use();
        } catch (RateLimitStoreException ex) {
            // An algorithm of the application has failed, which is no failure of the call that needs room.
            return EvictionPriority.NOTHING_LOST;
        }
    }
}
