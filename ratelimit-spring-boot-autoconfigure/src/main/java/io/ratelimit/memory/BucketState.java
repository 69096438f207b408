package io.ratelimit.memory;

import org.jspecify.annotations.Nullable;

/**
 * What is remembered of a bucket, the same in the JVM and in Redis: a section for each rule in use, two at the most.
 *
 * @param own the section of the rule that was used last
 * @param other of the rule before it
 * @param offset added to the clock: more than 0 while the clock is behind what it once showed
 */
@SuppressWarnings("ReferenceEquality") // The very entry, not one like it.
record BucketState(Section<?> own, @Nullable Section<?> other, long offset) {

    /**
     * What is to be added to the clock. A bucket's own time never goes back: while the clock shows less than the bucket
     * has seen, the bucket goes on from there, at the clock's speed, until the clock has caught up. So what was given back
     * is not given back again, and nobody waits for the clock.
     */
    static long offset(@Nullable BucketState last, long clock) {
        if (last == null) {
            return 0;
        }
        long seen = last.other == null ? last.own.since() : Math.max(last.own.since(), last.other.since());
        return clock >= seen ? 0 : Math.max(last.offset, seen - clock);
    }

    /** With the rule's section first. A rule that is new adopts what the rule before it has counted. */
    static BucketState of(Rule<?> rule, @Nullable BucketState last, long offset, long now) {
        if (last == null) {
            return new BucketState(Section.unused(rule, now), null, 0);
        }
        if (last.own.rule().equals(rule)) {
            return new BucketState(last.own.recover(now), last.other, offset);
        }
        if (last.other != null && last.other.rule().equals(rule)) {
            return new BucketState(last.other.recover(now), last.own, offset);
        }
        Section<?> before = last.own.recover(now);
        return new BucketState(Section.adopt(rule, before, now), before, offset);
    }

    /** Charged with a call that the own rule has admitted. */
    BucketState charge(long now, long permits) {
        return new BucketState(own.take(now, permits), other == null ? null : other.witness(now, permits), offset);
    }

    /** As it is to be remembered, or {@code null} if it is as if never used by all its rules. */
    @Nullable
    BucketState settled(long now) {
        Section<?> recovered = other == null ? null : other.recover(now);
        return own.used(now) == 0 && (recovered == null || recovered.used(now) == 0)
                ? null
                : new BucketState(own, recovered, offset);
    }

    /**
     * Whether this is to be remembered even though nothing was charged: the clock went back or has caught up, the rule is
     * new and would otherwise adopt again at each call, or entries of a log need not be looked at again.
     */
    boolean differsFrom(BucketState last) {
        Section<?> before = own.rule().equals(last.own.rule()) ? last.own : last.other;
        return offset != last.offset
                || before == null
                || !own.rule().equals(before.rule())
                || (own.usage() instanceof Log log && log.front() != ((Log) before.usage()).front());
    }
}
