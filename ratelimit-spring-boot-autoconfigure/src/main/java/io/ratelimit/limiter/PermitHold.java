package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.store.Refund;
import io.ratelimit.store.StoreOutcome;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/** Releases the permits that one call has taken from concurrency limits, once, in whichever store they are. */
final class PermitHold {

    private final Refund refund;

    private final List<Charge> held;

    private final HeldPermitCounts counts;

    private final PermitQueues queues;

    private final AtomicBoolean released = new AtomicBoolean();

    PermitHold(StoreOutcome outcome, HeldPermitCounts counts, PermitQueues queues) {
        this.refund = outcome.refund();
        this.held = held(outcome);
        this.counts = counts;
        this.queues = queues;
        held.forEach(charge -> counts.add(charge.limit(), charge.permits()));
    }

    private static List<Charge> held(StoreOutcome outcome) {
        List<Charge> charges = outcome.charges();
        return IntStream.range(0, charges.size())
                .filter(i -> !charges.get(i).limit().hasRate() && outcome.isCharged(i))
                .mapToObj(charges::get)
                .toList();
    }

    /** Releases the permits in the background. Doing so again changes nothing. */
    void release() {
        if (held.isEmpty() || !released.compareAndSet(false, true)) {
            return;
        }
        held.forEach(charge -> counts.add(charge.limit(), -charge.permits()));
        queues.release(refund, held);
    }
}
