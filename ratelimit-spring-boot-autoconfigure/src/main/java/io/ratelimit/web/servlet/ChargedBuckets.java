package io.ratelimit.web.servlet;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.limiter.CombinedDecision;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Remembers the buckets that a request was charged to, each with the first dispatch that was. Thread-safe. */
final class ChargedBuckets {

    private final Map<Bucket, Dispatch> dispatches = new HashMap<>(4);

    /** Adds the buckets of the charges, unless a limit rejects: then none is charged. */
    synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions, Dispatch dispatch) {
        if (new CombinedDecision(charges, decisions).isRejected()) {
            return;
        }
        for (int i = 0; i < charges.size(); i++) {
            if (decisions.get(i).allowed()) {
                dispatches.putIfAbsent(Bucket.of(charges.get(i)), dispatch);
            }
        }
    }

    /** Removes the buckets of charges that were refunded. */
    synchronized void remove(List<Charge> charges) {
        charges.forEach(charge -> dispatches.remove(Bucket.of(charge)));
    }

    /** Returns the charges whose buckets no earlier dispatch was charged to. */
    synchronized List<Charge> uncharged(List<Charge> charges, Dispatch dispatch) {
        return charges.stream()
                .filter(charge ->
                        dispatches.getOrDefault(Bucket.of(charge), dispatch).equals(dispatch))
                .toList();
    }

    /** A pass of a request through the servlet container: the first one, or a forward, an error page and so on. */
    record Dispatch(DispatcherType type, int number, String uri) {

        private static final Dispatch FIRST = new Dispatch(DispatcherType.REQUEST, 0, "");

        /** @param number counts the dispatches of the request */
        static Dispatch of(HttpServletRequest request, int number) {
            DispatcherType type = request.getDispatcherType();
            return type == DispatcherType.REQUEST ? FIRST : new Dispatch(type, number, request.getRequestURI());
        }

        boolean isFirst() {
            return type == DispatcherType.REQUEST;
        }
    }

    private record Bucket(String limit, @Nullable String key) {

        static Bucket of(Charge charge) {
            return new Bucket(charge.limit().id(), charge.key());
        }
    }
}
