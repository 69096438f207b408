package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Decides calls with several limits: holds all their buckets, one after the other, and charges all of them or none. */
record JointCall(TimeSource time, BucketTable buckets) {

    /** The order in which all calls lock several buckets, so that they cannot deadlock. */
    private static final Comparator<Charge> BY_BUCKET = Comparator.<Charge, String>comparing(
                    charge -> charge.limit().id())
            .thenComparing(Charge::key, Comparator.nullsFirst(Comparator.naturalOrder()));

    /**
     * Decides a call.
     *
     * @param receipts receives what is charged; {@code null}: nothing will be refunded
     */
    List<RateLimitDecision> decide(List<Charge> charges, @Nullable Map<Charge, ChargedPermits> receipts) {
        List<Charge> sorted = new ArrayList<>(charges);
        sorted.sort(BY_BUCKET);
        Map<Charge, Bucket> held = new HashMap<>();
        return holding(
                sorted,
                held,
                () -> decideHeld(charges, charges.stream().map(held::get).toList(), receipts));
    }

    /** Does something while all buckets are held, one after the other. */
    private <T> T holding(List<Charge> charges, Map<Charge, Bucket> held, Supplier<T> work) {
        if (charges.isEmpty()) {
            return work.get();
        }
        Charge charge = charges.get(0);
        CompiledLimit limit = limit(charge);
        String key = BucketKey.of(charge.key());
        while (true) {
            Bucket found = buckets.get(limit, key);
            Bucket bucket = found == null ? new Bucket(limit, key, null) : found;
            try {
                T result = bucket.hold(self -> {
                    if (found == null && !buckets.add(bucket, time.micros())) {
                        return null;
                    }
                    held.put(charge, bucket);
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
            List<Charge> charges, List<Bucket> held, @Nullable Map<Charge, ChargedPermits> receipts) {
        long now = time.micros();
        List<Assessment> assessments = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            assessments.add(new Assessment(limit(charge), held.get(i).read(), now, charge.permits()));
        }
        boolean rejected =
                StoreOutcome.isRejected(charges, i -> assessments.get(i).fits());
        List<RateLimitDecision> decisions = new ArrayList<>(charges.size());
        @Nullable BucketState[] states = new @Nullable BucketState[charges.size()];
        // An algorithm of the application may fail here, and then nothing is charged.
        for (int i = 0; i < states.length; i++) {
            Assessment assessment = assessments.get(i);
            boolean charged = StoreOutcome.isCharged(charges.get(i), assessment.fits(), rejected);
            states[i] = assessment.next(charged);
            decisions.add(assessment.decision(charged));
        }
        for (int i = 0; i < states.length; i++) {
            Charge charge = charges.get(i);
            Bucket bucket = held.get(i);
            bucket.write(states[i]);
            if (receipts != null
                    && charge.permits() > 0
                    && StoreOutcome.isCharged(charge, assessments.get(i).fits(), rejected)) {
                receipts.put(charge, assessments.get(i).receipt(bucket));
            }
        }
        return decisions;
    }

    private CompiledLimit limit(Charge charge) {
        return CompiledLimit.of(charge.limit(), buckets);
    }
}
