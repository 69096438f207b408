package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.internal.limiter.CombinedDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the buckets that a request was charged to, and in which of its passes through the container: the first one, a
 * forward, an error page and so on. A concurrency limit is charged while a call holds its permits. Thread-safe.
 */
final class ChargedBuckets {

    /** The first pass. */
    static final int FIRST = 1;

    /** How often each was made: a refund takes back one. */
    private final Map<Payment, Integer> payments = new HashMap<>(4);

    /** Adds the buckets that a call was charged to: none but those of limits in dry run, if a limit rejects it. */
    synchronized void add(List<Charge> charges, List<RateLimitDecision> decisions, int pass, Payer payer, Object call) {
        if (payer == Payer.TASK) {
            return;
        }
        boolean rejected = new CombinedDecision(charges, decisions).isRejected();
        for (int i = 0; i < charges.size(); i++) {
            if (StoreOutcome.isCharged(charges.get(i), decisions.get(i).allowed(), rejected)) {
                Object holder = charges.get(i).limit().hasRate() ? null : call;
                payments.merge(new Payment(nameOf(charges.get(i)), holder, pass, payer), 1, Integer::sum);
            }
        }
    }

    /** Takes back charges of the pass that were refunded. */
    synchronized void remove(List<Charge> charges, int pass, Payer payer) {
        charges.forEach(charge -> payments.computeIfPresent(
                new Payment(nameOf(charge), null, pass, payer), (payment, number) -> number > 1 ? number - 1 : null));
    }

    /** Removes the buckets whose permits the call has released. */
    synchronized void release(Object call) {
        payments.keySet().removeIf(payment -> payment.holder() == call);
    }

    /**
     * Returns the charges that the request has not paid. In the first pass each call pays, but a route what a URL rule has not, and no
     * permit that it holds: its filter is called again if an outer one tries again.
     */
    synchronized List<Charge> unpaid(List<Charge> charges, int pass, Payer payer) {
        if (pass == FIRST && payer != Payer.ROUTE) {
            return charges;
        }
        return charges.stream()
                .filter(charge -> payments.keySet().stream()
                        .noneMatch(payment ->
                                payment.bucket().equals(nameOf(charge)) && payment.coversCallsOf(payer, pass)))
                .toList();
    }

    private static BucketName nameOf(Charge charge) {
        return new BucketName(charge.limit().id(), charge.key());
    }

    /** What charges a request, or a call during it. */
    enum Payer {

        /** A URL rule, which holds permits until the request is over. */
        RULE,

        /** The filter of a route, which holds permits until the request is over. */
        ROUTE,

        /** A method. If it holds permits or may be refunded, that ends before the method returns. */
        METHOD,

        /** A method that has returned before the permits or the refund of its call end: at any time, also of a later dispatch. */
        TASK
    }

    /** @param holder the call that holds permits; {@code null}: the limit has a rate */
    private record Payment(BucketName bucket, @Nullable Object holder, int pass, Payer by) {

        boolean coversCallsOf(Payer payer, int laterPass) {
            boolean held = holder != null && by == Payer.ROUTE && payer == Payer.ROUTE;
            return held || (laterPass > FIRST ? pass != laterPass : by == Payer.RULE);
        }
    }
}
