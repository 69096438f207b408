package io.ratelimit.internal.memory;

import org.jspecify.annotations.Nullable;

/**
 * A number of used permits.
 *
 * @param used permits that have been taken and are not back
 * @param rest what else the rule remembers
 * @param gaps what refunds have left, if permits come back in the order in which they were taken; {@code null} in most buckets
 */
record CounterState(
        long used, long since, long rest, @Nullable RefundGaps gaps) implements Usage {

    static {
        // The compiler inlines no constructor with a parameter of a class that is not loaded, and would create each
        // state.
        var unused = RefundGaps.class;
    }

    CounterState(long used, long since, long rest) {
        this(used, since, rest, null);
    }

    @Override
    public CounterState receipt() {
        return gaps == null
                ? this
                : new CounterState(
                        gaps.end(used), gaps.origin().since(), gaps.origin().rest(), gaps);
    }

    CounterState with(@Nullable RefundGaps newGaps) {
        return new CounterState(used, since, rest, newGaps);
    }

    CounterState plus(long permits, long most) {
        return new CounterState(Math.min(used + permits, most), since, rest, gaps);
    }

    @Override
    public boolean remembersRefunds() {
        return gaps != null;
    }
}
