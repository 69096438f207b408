package io.ratelimit.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a bucket, the same in the JVM and in Redis: a section for each rule in use.
 *
 * @param own the section of the rule that was used last
 * @param others of the rules before it, the last used first
 * @param lag while the clock is behind what it once showed
 */
@SuppressWarnings("ReferenceEquality") // The very entry, not one like it.
record BucketState(
        RuleState<?> own,
        List<RuleState<?>> others,
        @Nullable ClockSkew lag) {

    /** The most rules beside the one that is used. */
    private static final int MOST_OTHERS = 2;

    /** The lag with which a bucket is looked at. */
    static @Nullable ClockSkew lag(@Nullable BucketState last, long clock) {
        if (last == null) {
            return null;
        }
        long seen = last.own.since();
        for (RuleState<?> other : last.others) {
            seen = Math.max(seen, other.since());
        }
        return ClockSkew.at(last.lag, seen, clock);
    }

    /** With the rule's section first. A rule that is new adopts what the rule before it has counted. */
    static BucketState of(Rule<?> rule, @Nullable BucketState last, @Nullable ClockSkew lag, long now) {
        if (last == null) {
            return new BucketState(RuleState.unused(rule, now), List.of(), null);
        }
        if (last.own.rule().equals(rule)) {
            return new BucketState(last.own.recover(now), last.others, lag);
        }
        RuleState<?> known = last.section(rule);
        List<RuleState<?>> others = last.allBut(known);
        if (known != null) {
            return new BucketState(known.recover(now), others, lag);
        }
        int adopted = adoptedBy(rule, others);
        RuleState<?> before = others.get(adopted).recover(now);
        others.set(adopted, before);
        return new BucketState(RuleState.adopt(rule, before, now), others, lag);
    }

    /** The section that a new rule adopts: the last used; of a log, another log if there is one, for its entries. */
    private static int adoptedBy(Rule<?> rule, List<RuleState<?>> sections) {
        for (int i = 0; rule instanceof SlidingWindowLogRule && i < sections.size(); i++) {
            if (sections.get(i).rule() instanceof SlidingWindowLogRule) {
                return i;
            }
        }
        return 0;
    }

    /** Whether it is no more than what one rule has counted. */
    boolean isCount() {
        return others.isEmpty() && lag == null && own.rule() instanceof CounterRule;
    }

    /** Of which a caller was told when to come again. */
    BucketState promising(long retryMicros) {
        return lag == null ? this : new BucketState(own, others, lag.promising(retryMicros));
    }

    /** If not, the rule was pushed out, or the bucket was gone since, and what others count is not the rule's to undo. */
    boolean hasSection(Rule<?> rule) {
        return section(rule) != null;
    }

    private @Nullable RuleState<?> section(Rule<?> rule) {
        if (own.rule().equals(rule)) {
            return own;
        }
        for (RuleState<?> other : others) {
            if (other.rule().equals(rule)) {
                return other;
            }
        }
        return null;
    }

    private List<RuleState<?>> allBut(@Nullable RuleState<?> section) {
        List<RuleState<?>> rest = new ArrayList<>(1 + others.size());
        rest.add(own);
        for (RuleState<?> other : others) {
            if (other != section && rest.size() < MOST_OTHERS) {
                rest.add(other);
            }
        }
        return rest;
    }

    /** Charged with a call that the own rule has admitted. */
    BucketState charge(long now, long permits) {
        return new BucketState(
                own.take(now, permits),
                others.isEmpty()
                        ? others
                        : others.stream()
                                .<RuleState<?>>map(other -> other.witness(now, permits))
                                .toList(),
                lag);
    }

    /**
     * Without a charge that the own rule admitted, as far as that is not back by itself. A log takes the entry out of all
     * logs of the bucket, because they share it.
     */
    BucketState giveBack(long now, long permits, CounterState receipt) {
        List<RuleState<?>> left = new ArrayList<>(others.size());
        for (RuleState<?> other : others) {
            boolean shared = own.rule() instanceof SlidingWindowLogRule && other.rule() instanceof SlidingWindowLogRule;
            left.add(shared ? other.recover(now).giveBack(now, permits, receipt) : other);
        }
        return new BucketState(own.giveBack(now, permits, receipt), left, lag);
    }

    /** As it is to be remembered, or {@code null} if it is as if never used by all its rules. */
    @Nullable
    BucketState settled(long now) {
        List<RuleState<?>> recovered =
                others.stream().<RuleState<?>>map(other -> other.recover(now)).toList();
        boolean unused = own.used(now) == 0 && recovered.stream().allMatch(other -> other.used(now) == 0);
        return unused && lag == null ? null : new BucketState(own, recovered, lag);
    }

    /**
     * Whether this is to be remembered even though nothing was charged: the clock went back or has caught up, or the rule
     * is new and would otherwise adopt again at each call.
     */
    boolean differsFrom(BucketState last) {
        return lag != null || last.lag != null || !last.hasSection(own.rule());
    }
}
