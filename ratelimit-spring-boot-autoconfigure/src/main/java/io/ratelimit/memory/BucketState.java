package io.ratelimit.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a bucket, the same in the JVM and in Redis: a section for each rule in use.
 *
 * @param own the section of the rule that was used last
 * @param others of the rules before it, the last used first
 * @param offset added to the clock: more than 0 while the clock is behind what it once showed
 */
@SuppressWarnings("ReferenceEquality") // The very entry, not one like it.
record BucketState(Section<?> own, List<Section<?>> others, long offset) {

    /** The most rules beside the one that is used. */
    private static final int MOST_OTHERS = 2;

    /**
     * What is to be added to the clock. A bucket's own time never goes back: while the clock shows less than the bucket
     * has seen, the bucket goes on from there, at the clock's speed, until the clock has caught up. So what was given back
     * is not given back again, and nobody waits for the clock.
     */
    static long offset(@Nullable BucketState last, long clock) {
        if (last == null) {
            return 0;
        }
        long seen = last.own.since();
        for (Section<?> other : last.others) {
            seen = Math.max(seen, other.since());
        }
        return clock >= seen ? 0 : Math.max(last.offset, seen - clock);
    }

    /** With the rule's section first. A rule that is new adopts what the rule before it has counted. */
    static BucketState of(Rule<?> rule, @Nullable BucketState last, long offset, long now) {
        if (last == null) {
            return new BucketState(Section.unused(rule, now), List.of(), 0);
        }
        if (last.own.rule().equals(rule)) {
            return new BucketState(last.own.recover(now), last.others, offset);
        }
        Section<?> known = last.section(rule);
        List<Section<?>> others = last.allBut(known);
        if (known != null) {
            return new BucketState(known.recover(now), others, offset);
        }
        Section<?> before = last.own.recover(now);
        others.set(0, before);
        return new BucketState(Section.adopt(rule, before, now), others, offset);
    }

    private @Nullable Section<?> section(Rule<?> rule) {
        if (own.rule().equals(rule)) {
            return own;
        }
        for (Section<?> other : others) {
            if (other.rule().equals(rule)) {
                return other;
            }
        }
        return null;
    }

    private List<Section<?>> allBut(@Nullable Section<?> section) {
        List<Section<?>> rest = new ArrayList<>(1 + others.size());
        rest.add(own);
        for (Section<?> other : others) {
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
                                .<Section<?>>map(other -> other.witness(now, permits))
                                .toList(),
                offset);
    }

    /** As it is to be remembered, or {@code null} if it is as if never used by all its rules. */
    @Nullable
    BucketState settled(long now) {
        List<Section<?>> recovered =
                others.stream().<Section<?>>map(other -> other.recover(now)).toList();
        boolean unused = own.used(now) == 0 && recovered.stream().allMatch(other -> other.used(now) == 0);
        return unused && offset == 0 ? null : new BucketState(own, recovered, offset);
    }

    /**
     * Whether this is to be remembered even though nothing was charged: the clock went back or has caught up, the rule is
     * new and would otherwise adopt again at each call, or entries of a log need not be looked at again.
     */
    boolean differsFrom(BucketState last) {
        Section<?> before = last.section(own.rule());
        return offset != last.offset
                || before == null
                || (own.usage() instanceof Log log && log.front() != ((Log) before.usage()).front());
    }
}
