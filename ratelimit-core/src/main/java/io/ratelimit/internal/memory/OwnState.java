package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitAlgorithm.State;
import java.util.List;

/**
 * What an algorithm of the application remembers.
 *
 * @param refunded how many permits have been refunded since the bucket was last full
 */
record OwnState(State state, long refunded) implements Usage {

    private static final CounterState NOTHING = new CounterState(0, 0, 0);

    static OwnState of(CounterState receipt) {
        return new OwnState(
                new State(receipt.used(), receipt.since(), receipt.rest()),
                receipt.gaps() == null ? 0 : receipt.gaps().first());
    }

    @Override
    public long since() {
        return state.since();
    }

    /** The refunds are what is before the first permit. */
    @Override
    public CounterState receipt() {
        RefundGaps before = refunded == 0 ? null : new RefundGaps(NOTHING, refunded, List.of());
        return new CounterState(state.used(), state.since(), state.rest(), before);
    }

    /** The algorithm may say that no permits are used of a state that it still needs. */
    @Override
    public boolean remembersRefunds() {
        return state.used() > 0;
    }
}
