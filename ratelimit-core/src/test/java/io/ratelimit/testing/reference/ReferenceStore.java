package io.ratelimit.testing.reference;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.ReceiptRefund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.TimeSource;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** What every store has to answer. Knows neither of limits that change nor of clocks that go back. */
public final class ReferenceStore implements RateLimitStore {

    private final TimeSource time;

    private final Map<String, ReferenceBucket> buckets = new HashMap<>();

    private final Map<String, ReferenceBlock> blocks = new HashMap<>();

    public ReferenceStore(TimeSource time) {
        this.time = time;
    }

    @Override
    public StoreOutcome decide(StoreRequest request) {
        if (request.isPeek()) {
            return StoreOutcome.of(request, peek(request.first()));
        }
        List<Charge> charges = request.charges();
        charges.stream().filter(this::violates).forEach(this::block);
        boolean rejected = charges.stream().anyMatch(charge -> !charge.limit().dryRun() && !fits(charge));
        Map<Charge, Object> calls = new HashMap<>();
        List<RateLimitDecision> decisions = charges.stream()
                .map(charge -> decide(charge, rejected, calls.computeIfAbsent(charge, call -> new Object())))
                .toList();

        return request.refundable()
                ? StoreOutcome.of(request, decisions, new ReceiptRefund<>(calls, this::refund))
                : StoreOutcome.of(request, decisions);
    }

    private CompletionStage<Void> refund(Map<Charge, Object> taken, Map<Charge, Long> permits) {
        taken.forEach((charge, call) -> bucket(charge).refund(time.micros(), call, permits.get(charge)));
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public CompletionStage<Void> charge(Charge charge) {
        if (charge.permits() > 0) {
            bucket(charge).take(time.micros(), charge.permits(), new Object());
        }
        return CompletableFuture.completedFuture(null);
    }

    private RateLimitDecision peek(Charge charge) {
        // What would be decided, which may block the key.
        ReferenceBlock known = blockOf(charge).copy();
        if (violates(charge)) {
            block(charge);
        }
        RateLimitDecision decision = decide(charge, true, fits(charge), charge);
        blocks.put(name(charge), known);
        return decision;
    }

    /** Counts permits that were admitted by another rule. */
    public void witness(Charge charge) {
        bucket(charge).witness(time.micros(), charge.permits(), charge.limit().capacity());
    }

    /** Looks at a bucket before or after an operator's change. */
    @Override
    public CompletionStage<BucketStatus> change(RateLimit limit, @Nullable String key, BucketChange change) {
        Charge charge = new Charge(limit, key, 0);
        long now = time.micros();
        switch (change.kind()) {
            case NONE -> {}
            case GRANT -> bucket(charge).grant(now, change.amount());
            case BLOCK -> blockOf(charge).block(now, change.amount());
            case UNBLOCK -> blocks.remove(name(charge));
            case RESET -> {
                buckets.remove(name(charge));
                blocks.remove(name(charge));
            }
        }
        return CompletableFuture.completedFuture(new BucketStatus(
                limit.capacity(),
                left(charge).floor(),
                micros(bucket(charge).timeUntil(now, Fraction.ZERO)),
                micros(Fraction.of(blockOf(charge).left(now)))));
    }

    /** A limit that blocks rejects the call although the key is not blocked. A call that can never succeed is no violation. */
    private boolean violates(Charge charge) {
        RateLimit limit = charge.limit();
        return !limit.blockFor().isEmpty()
                && !limit.dryRun()
                && charge.permits() <= limit.capacity()
                && !fits(charge)
                && blockedFor(charge) == 0;
    }

    private void block(Charge charge) {
        blockOf(charge).violated(time.micros(), charge.limit().blockFor());
    }

    private ReferenceBlock blockOf(Charge charge) {
        return blocks.computeIfAbsent(name(charge), name -> new ReferenceBlock());
    }

    private long blockedFor(Charge charge) {
        return blockOf(charge).left(time.micros());
    }

    private boolean fits(Charge charge) {
        return blockedFor(charge) == 0
                && (charge.permits() == 0
                        || (charge.permits() <= charge.limit().capacity()
                                && waitOf(charge).compareTo(maxWaitOf(charge)) <= 0));
    }

    /** How long it takes until the permits, no more than the capacity, are there. */
    private Fraction waitOf(Charge charge) {
        Fraction others = Fraction.of(charge.limit().capacity()).minus(Fraction.of(charge.permits()));
        return bucket(charge).timeUntil(time.micros(), others);
    }

    private static Fraction maxWaitOf(Charge charge) {
        return Fraction.of(TestClock.inMicros(charge.limit().maxWait()));
    }

    private RateLimitDecision decide(Charge charge, boolean rejected, Object call) {
        boolean fits = fits(charge);
        return decide(charge, !fits || (rejected && !charge.limit().dryRun()), fits, call);
    }

    private RateLimitDecision decide(Charge charge, boolean free, boolean fits, Object call) {
        ReferenceBucket bucket = bucket(charge);
        long now = time.micros();
        Duration delay = fits ? delay(charge) : Duration.ZERO;
        Duration retryAfter = fits ? Duration.ZERO : retryAfter(charge);
        if (!free && charge.permits() > 0) {
            bucket.take(now, charge.permits(), call);
        }
        long blocked = blockedFor(charge);
        return new RateLimitDecision(
                fits,
                charge.limit().capacity(),
                blocked > 0 ? 0 : left(charge).floor(),
                delay,
                retryAfter,
                micros(bucket.timeUntil(now, Fraction.ZERO).atLeast(Fraction.of(blocked))));
    }

    private Fraction left(Charge charge) {
        Fraction used = bucket(charge).used(time.micros());
        return Fraction.of(charge.limit().capacity()).minus(used).atLeast(Fraction.ZERO);
    }

    /** A leaky bucket's permits are slots, and the first of them is free when all that came before has drained. */
    private Duration delay(Charge charge) {
        if (charge.permits() == 0) {
            return Duration.ZERO;
        }
        return charge.limit().algorithm() == Algorithm.LEAKY_BUCKET
                ? micros(bucket(charge).timeUntil(time.micros(), Fraction.ZERO))
                : micros(waitOf(charge));
    }

    private @Nullable Duration retryAfter(Charge charge) {
        if (charge.permits() > charge.limit().capacity()) {
            return null;
        }
        long blocked = blockedFor(charge);
        return blocked > 0
                ? micros(Fraction.of(blocked))
                : micros(waitOf(charge).minus(maxWaitOf(charge)));
    }

    private ReferenceBucket bucket(Charge charge) {
        return buckets.computeIfAbsent(name(charge), name -> ReferenceBucket.of(charge.limit()));
    }

    private static String name(Charge charge) {
        return charge.limit().id() + " " + charge.key();
    }

    private static Duration micros(Fraction time) {
        return Duration.of(time.ceiling(), ChronoUnit.MICROS);
    }
}
