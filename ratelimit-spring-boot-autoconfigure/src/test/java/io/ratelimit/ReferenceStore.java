package io.ratelimit;

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

    public ReferenceStore(TimeSource time) {
        this.time = time;
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        if (charges.stream().map(ReferenceStore::name).distinct().count() < charges.size()) {
            throw new IllegalArgumentException("Two charges of one bucket");
        }
        boolean rejected = charges.stream().anyMatch(charge -> !charge.limit().dryRun() && !fits(charge));
        return charges.stream().map(charge -> decide(charge, rejected)).toList();
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        return decide(charge, true, fits(charge));
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        buckets.remove(name(new Charge(limit, key, 0)));
    }

    private boolean fits(Charge charge) {
        Fraction wanted = Fraction.of(charge.permits());
        return wanted.compareTo(bucket(charge).available(time.micros())) <= 0;
    }

    private RateLimitDecision decide(Charge charge, boolean rejected) {
        boolean fits = fits(charge);
        return decide(charge, !fits || (rejected && !charge.limit().dryRun()), fits);
    }

    private RateLimitDecision decide(Charge charge, boolean free, boolean fits) {
        ReferenceBucket bucket = bucket(charge);
        long now = time.micros();
        long capacity = charge.limit().capacity();
        Duration retryAfter = charge.permits() > capacity
                ? null
                : micros(bucket.timeUntil(now, Fraction.of(charge.permits())).ceiling());
        if (!free && charge.permits() > 0) {
            bucket.take(now, charge.permits());
        }
        return new RateLimitDecision(
                fits,
                capacity,
                bucket.available(now).floor(),
                Duration.ZERO,
                retryAfter,
                micros(bucket.timeUntil(now, Fraction.of(capacity)).ceiling()));
    }

    private ReferenceBucket bucket(Charge charge) {
        return buckets.computeIfAbsent(name(charge), name -> ReferenceBucket.of(charge.limit()));
    }

    private static String name(Charge charge) {
        return charge.limit().id() + " " + charge.key();
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
