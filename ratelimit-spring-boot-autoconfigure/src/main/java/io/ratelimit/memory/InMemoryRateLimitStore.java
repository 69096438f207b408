package io.ratelimit.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStore;
import io.ratelimit.TimeSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides in this JVM. Holds a bounded number of buckets; under a flood of keys those that are seldom asked for are
 * forgotten first.
 */
public final class InMemoryRateLimitStore implements RateLimitStore {

    private final TimeSource time;

    private final Cache<Key, Bucket> buckets;

    private final Map<RateLimit, Rule<?>> rules = new ConcurrentHashMap<>();

    /** @param maxKeys how many buckets are held at the most, of all limits together */
    public InMemoryRateLimitStore(TimeSource time, long maxKeys) {
        this.time = time;
        this.buckets = Caffeine.newBuilder().maximumSize(maxKeys).build();
    }

    @Override
    public List<RateLimitDecision> decide(List<Charge> charges) {
        return charges.size() == 1 ? List.of(decideOne(charges.get(0))) : decideTogether(charges);
    }

    @Override
    public CompletionStage<List<RateLimitDecision>> decideAsync(List<Charge> charges) {
        return CompletableFuture.completedFuture(decide(charges));
    }

    @Override
    public RateLimitDecision peek(Charge charge) {
        Bucket known = buckets.getIfPresent(key(charge.limit(), charge.key()));
        return assess(charge, known == null ? null : known.get(), time.micros()).decision(false);
    }

    @Override
    public void reset(RateLimit limit, @Nullable String key) {
        buckets.invalidate(key(limit, key));
    }

    private RateLimitDecision decideOne(Charge charge) {
        Bucket bucket = bucket(charge);
        while (true) {
            BucketState last = bucket.get();
            // Read after the state, the clock never shows less than the state has seen, unless it went back.
            Assessment assessment = assess(charge, last, time.micros());
            if (bucket.replace(last, assessment.next(assessment.fits()))) {
                return assessment.decision(assessment.fits());
            }
        }
    }

    private List<RateLimitDecision> decideTogether(List<Charge> charges) {
        List<Bucket> held = charges.stream().map(this::bucket).toList();
        if (held.stream().distinct().count() < held.size()) {
            throw new IllegalArgumentException("Two charges of one call are for the same bucket");
        }
        Map<Bucket, @Nullable BucketState> states = new HashMap<>();
        held.stream()
                .sorted(Comparator.comparingLong(Bucket::number))
                .forEach(bucket -> states.put(bucket, bucket.hold()));
        try {
            return decideHeld(charges, held, states);
        } finally {
            states.forEach(Bucket::release);
        }
    }

    private List<RateLimitDecision> decideHeld(
            List<Charge> charges, List<Bucket> held, Map<Bucket, @Nullable BucketState> states) {
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

    private Bucket bucket(Charge charge) {
        return buckets.get(key(charge.limit(), charge.key()), key -> new Bucket());
    }

    private static Key key(RateLimit limit, @Nullable String key) {
        return new Key(limit.id(), key);
    }

    private record Key(String limit, @Nullable String key) {}
}
