package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this JVM. Holds a bounded number of buckets; under a flood of keys, the least used are evicted first.
 */
public final class InMemoryRateLimitStore implements RateLimitStore {

    private final TimeSource time;

    private final BucketTable buckets;

    private final JointCall jointCall;

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
        this.jointCall = new JointCall(time, buckets);
    }

    /** Returns how many buckets there are. Those that are full again stay until others need their place. */
    public int size() {
        return buckets.size();
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        return request instanceof Charge charge ? decide(charge, System.nanoTime()) : decideMore(request);
    }

    /**
     * Decides a charge alone.
     *
     * @param nanos what {@link System#nanoTime()} has just returned
     */
    public StoreOutcome decide(Charge charge, long nanos) {
        return StoreOutcome.of(charge, decideOne(charge.limit(), charge.key(), charge.permits(), nanos));
    }

    /** Decides most calls. Takes the parts of the charge, so that the compiler can do without the object. */
    private RateLimitDecision decideOne(RateLimit limit, @Nullable String caller, long permits, long nanos) {
        checkRate(limit);
        CompiledLimit known = known(limit);
        String key = BucketKey.of(caller);
        Bucket bucket = known.buckets().get(key);
        RateLimitDecision decision = bucket == null ? null : bucket.decide(known, permits, time.micros(nanos));
        return decision == null ? decideOne(known, key, permits, null) : decision;
    }

    private StoreOutcome decideMore(StoreRequest request) {
        if (request.isPeek()) {
            return StoreOutcome.of(request, peek(request.first()));
        }
        List<Charge> charges = request.charges();
        if (!request.refundable()) {
            charges.forEach(charge -> checkRate(charge.limit()));
            return StoreOutcome.of(request, jointCall.decide(charges, null));
        }
        Map<Charge, ChargedPermits> receipts = new HashMap<>();
        Charge first = charges.get(0);
        Consumer<ChargedPermits> receipt = taken -> receipts.put(first, taken);
        List<RateLimitDecision> decisions = charges.size() == 1
                ? List.of(decideOne(known(first.limit()), BucketKey.of(first.key()), first.permits(), receipt))
                : jointCall.decide(charges, receipts);
        return StoreOutcome.of(request, decisions, new ReceiptRefund<>(receipts, this::refund));
    }

    /** Without a refund, nothing would release the permits of a concurrency limit. */
    private static void checkRate(RateLimit limit) {
        if (!limit.hasRate()) {
            throw new IllegalStateException(
                    "Limit '" + limit.name() + "' must be requested with a refund, which releases its permits");
        }
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
        bucket.change(last -> {
            long clock = time.micros();
            Rule<?> rule = known(charge.limit()).rule();
            BucketState state = BucketState.at(rule, last, clock);
            long now = state.now(clock);
            boolean refundable = last.hasState(rule)
                    && state.own().used(now) > 0
                    && state.own().isRefundable(from);
            return refundable ? state.refund(now, some, charge.permits(), from).settled(now) : last;
        });
        if (bucket.isForgotten()) {
            buckets.removeUnused(bucket);
        }
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        checkRate(charge.limit());
        CompiledLimit limit = known(charge.limit());
        if (charge.permits() > 0) {
            var unused = update(limit, BucketKey.of(charge.key()), bucket -> {
                long clock = time.micros();
                BucketState state = BucketState.at(limit.rule(), bucket.read(), clock);
                bucket.write(state.force(state.now(clock), charge.permits()));
                return true;
            });
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public boolean isNonBlocking(RateLimit limit) {
        return true;
    }

    private RateLimitDecision peek(Charge charge) {
        CompiledLimit limit = known(charge.limit());
        Bucket bucket = buckets.get(limit, BucketKey.of(charge.key()));
        BucketState state = bucket == null ? null : bucket.hold(held -> held.read());
        return new Assessment(limit, state, time.micros(), charge.permits()).decision(false);
    }

    @Override
    public long heldPermits(RateLimit limit) {
        return limit.hasRate()
                ? 0
                : known(limit).buckets().values().stream()
                        .map(bucket -> bucket.hold(held -> held.read()))
                        .filter(Objects::nonNull)
                        .mapToLong(state -> state.own().used(0))
                        .sum();
    }

    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        CompiledLimit known = known(limit);
        String name = BucketKey.of(key);
        if (change.equals(BucketChange.RESET)) {
            buckets.remove(known, name);
        }
        // What calls hold comes back when they end.
        BucketChange made = limit.hasRate() ? change : BucketChange.NONE;
        return CompletableFuture.completedFuture(update(known, name, bucket -> {
            long clock = time.micros();
            BucketState last = BucketState.at(known.rule(), bucket.read(), clock);
            long now = last.now(clock);
            BucketState changed = last.change(made, now);
            if (made.kind() != BucketChange.Kind.NONE) {
                bucket.write(changed.settled(now));
            }
            return changed.status(known.capacity(), now);
        }));
    }

    private RateLimitDecision decideOne(
            CompiledLimit limit, String key, long permits, @Nullable Consumer<ChargedPermits> receipt) {
        return update(limit, key, bucket -> {
            // Read after the state, so that it is not before the state's time unless the clock was set back.
            Assessment assessment = new Assessment(limit, bucket.read(), time.micros(), permits);
            boolean fits = assessment.fits();
            BucketState next = assessment.next(fits);
            RateLimitDecision decision = assessment.decision(fits);
            bucket.write(next);
            if (receipt != null && fits && permits > 0) {
                receipt.accept(assessment.receipt(bucket));
            }
            return decision;
        });
    }

    /**
     * Runs work that may read and write the bucket of a key, and no other call meanwhile. If there is none, the work gets a new one,
     * which is added only if the work has used it, and the work runs again if another was added before.
     */
    private <T> T update(CompiledLimit limit, String key, Function<Bucket, @Nullable T> work) {
        while (true) {
            Bucket found = buckets.get(limit, key);
            Bucket bucket = found == null ? new Bucket(limit, key, null) : found;
            T result = found == null ? work.apply(bucket) : bucket.hold(work);
            if (result != null && (found != null || bucket.isUnused() || buckets.add(bucket, time.micros()))) {
                return result;
            }
        }
    }

    private CompiledLimit known(RateLimit limit) {
        return CompiledLimit.of(limit, buckets);
    }

    private static EvictionPriority use(CompiledLimit limit, @Nullable BucketState state, long clock) {
        try {
            BucketState present = BucketState.at(limit.rule(), state, clock);
            return present.use(present.now(clock));
        } catch (RateLimitStoreException ex) {
            // An algorithm of the application has failed, which is no failure of the call that needs room.
            return EvictionPriority.NOTHING_LOST;
        }
    }
}
