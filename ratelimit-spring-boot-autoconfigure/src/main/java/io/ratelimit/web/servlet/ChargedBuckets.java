package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.internal.limiter.CombinedDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Remembers the buckets that a request was charged to, and by which dispatches. A concurrency limit is charged while a call
 * holds its permits. Thread-safe.
 */
final class ChargedBuckets {

    /** How often each was made: a refund takes back one. */
    private final Map<Payment, Integer> payments = new HashMap<>(4);

    /** Adds the buckets that a call was charged to: none but those of limits in dry run, if a limit rejects it. */
    synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions, Dispatch dispatch, Object call) {
        boolean rejected = new CombinedDecision(charges, decisions).isRejected();
        for (int i = 0; i < charges.size(); i++) {
            if (StoreOutcome.isCharged(charges.get(i), decisions.get(i).allowed(), rejected)) {
                Object holder = charges.get(i).limit().hasRate() ? null : call;
                payments.merge(new Payment(nameOf(charges.get(i)), holder, dispatch), 1, Integer::sum);
            }
        }
    }

    /** Takes back charges of the dispatch that were refunded. */
    synchronized void remove(List<Charge> charges, Dispatch dispatch) {
        charges.forEach(charge -> payments.computeIfPresent(
                new Payment(nameOf(charge), null, dispatch), (payment, number) -> number > 1 ? number - 1 : null));
    }

    /** Removes the buckets whose permits the call has released. */
    synchronized void release(Object call) {
        payments.keySet().removeIf(payment -> payment.holder() == call);
    }

    /** Returns the charges whose buckets no earlier dispatch was charged to. */
    synchronized List<Charge> uncharged(List<Charge> charges, Dispatch dispatch) {
        return charges.stream()
                .filter(charge -> !isCharged(nameOf(charge), dispatch))
                .toList();
    }

    private static BucketName nameOf(Charge charge) {
        return new BucketName(charge.limit().id(), charge.key());
    }

    private boolean isCharged(BucketName bucket, Dispatch dispatch) {
        return payments.keySet().stream()
                .anyMatch(payment ->
                        payment.bucket().equals(bucket) && !payment.dispatch().equals(dispatch));
    }

    /**
     * A pass of a request through the servlet container: the first one, or a forward, an error page and so on.
     *
     * @param target the path. An include has that of the outer request, and forwards can come back to the same one. Theirs has the
     *     attributes, too, that Spring's servlet creates for each pass
     */
    record Dispatch(DispatcherType type, int number, Object target) {

        private static final Dispatch FIRST = new Dispatch(DispatcherType.REQUEST, 0, "");

        /** @param number counts the dispatches of the request */
        static Dispatch of(HttpServletRequest request, int number) {
            DispatcherType type = request.getDispatcherType();
            return switch (type) {
                case REQUEST -> FIRST;
                case INCLUDE, FORWARD -> new Dispatch(type, number, passOf(request));
                default -> new Dispatch(type, number, request.getRequestURI());
            };
        }

        private static Object passOf(HttpServletRequest request) {
            RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
            return List.of(attributes == null ? "" : attributes, request.getRequestURI());
        }

        /** Returns a pass of its own for the filter of a route, which is not charged what the request has been before. */
        static Dispatch ofRoute(HttpServletRequest request) {
            return new Dispatch(request.getDispatcherType(), 0, new Object());
        }

        boolean isFirst() {
            return equals(FIRST);
        }
    }

    /** @param holder the call that holds permits; {@code null}: the limit has a rate */
    private record Payment(BucketName bucket, @Nullable Object holder, Dispatch dispatch) {}
}
