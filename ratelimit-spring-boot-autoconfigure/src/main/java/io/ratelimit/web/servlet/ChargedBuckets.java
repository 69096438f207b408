package io.ratelimit.web.servlet;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a request has paid, and in which of its dispatches first. Any thread may add to it. */
final class ChargedBuckets {

    private final Map<Bucket, Dispatch> paid = new HashMap<>(4);

    /** Where one limit rejects, none is paid. */
    synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions, Dispatch dispatch) {
        for (int i = 0; i < charges.size(); i++) {
            if (!decisions.get(i).allowed() && !charges.get(i).limit().dryRun()) {
                return;
            }
        }
        for (int i = 0; i < charges.size(); i++) {
            if (decisions.get(i).allowed()) {
                paid.putIfAbsent(Bucket.of(charges.get(i)), dispatch);
            }
        }
    }

    /** What is given back is not paid any more. */
    synchronized void remove(List<Charge> charges) {
        charges.forEach(charge -> paid.remove(Bucket.of(charge)));
    }

    /** Those of the charges that no earlier dispatch has paid. */
    synchronized List<Charge> unpaid(List<Charge> charges, Dispatch dispatch) {
        return charges.stream()
                .filter(charge -> paid.getOrDefault(Bucket.of(charge), dispatch).equals(dispatch))
                .toList();
    }

    private record Bucket(RateLimit limit, @Nullable String key) {

        static Bucket of(Charge charge) {
            return new Bucket(charge.limit(), charge.key());
        }
    }
}
