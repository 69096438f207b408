package io.ratelimit.internal.statistics;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts the calls of one limit since the start-up. Threads that count at the same time do not wait for each other. */
final class CallCounter {

    final LongAdder allowed = new LongAdder();

    final LongAdder rejected = new LongAdder();

    final LongAdder dryRunRejected = new LongAdder();

    final LongAdder refused = new LongAdder();

    /** {@code null}: keys are not counted. */
    final @Nullable RejectedKeys keys;

    /** What {@link #takeNew} has returned so far. */
    private CallCounts taken = CallCounts.NONE;

    CallCounter(@Nullable RejectedKeys keys) {
        this.keys = keys;
    }

    /** Returns what was counted since it was last called. No call is lost, and none is returned twice. */
    CallCounts takeNew() {
        CallCounts now = new CallCounts(allowed.sum(), rejected.sum(), dryRunRejected.sum(), refused.sum());
        CallCounts fresh = now.minus(taken);
        taken = now;
        return fresh;
    }
}
