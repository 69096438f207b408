package io.ratelimit.internal.memory;

import io.ratelimit.RateLimitAdmin.BucketStatus;
import io.ratelimit.spi.BucketChange;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The state of a bucket, the same in the JVM and in Redis: a state for each rule in use.
 *
 * @param own the state of the rule that was used last
 * @param others those of the rules before it, the last used first
 * @param skew while the clock is behind what it showed before
 * @param block while the key is blocked, and as long as that is remembered
 */
@SuppressWarnings("ReferenceEquality") // The very entry, not one like it.
record BucketState(
        RuleState<?> own,
        List<RuleState<?>> others,
        @Nullable ClockSkew skew,
        @Nullable Block block) {

    /** The most rules beside the one that is used. */
    private static final int MOST_OTHERS = 2;

    /** Creates the state of a bucket that one rule alone counts. */
    BucketState(RuleState<?> own) {
        this(own, List.of(), null, null);
    }

    /** Returns the clock skew of a bucket at a time; {@code null} if there is none. */
    private static @Nullable ClockSkew skew(@Nullable BucketState last, long clock) {
        if (last == null) {
            return null;
        }
        long seen = last.block == null ? last.own.since() : Math.max(last.own.since(), last.block.since());
        for (RuleState<?> other : last.others) {
            seen = Math.max(seen, other.since());
        }
        return ClockSkew.at(last.skew, seen, clock);
    }

    /** Returns the state at a time, the rule's first. A new rule adopts what the previous rule has counted. */
    static BucketState at(Rule<?> rule, @Nullable BucketState last, long clock) {
        ClockSkew skew = skew(last, clock);
        long now = skew == null ? clock : skew.seen();
        if (last == null || last.isForgotten(rule, skew, now)) {
            return new BucketState(RuleState.unused(rule, now));
        }
        Block block = Block.at(last.block, now);
        if (last.own.rule().equals(rule)) {
            return new BucketState(last.own.by(rule).recover(now), last.others, skew, block);
        }
        RuleState<?> known = last.state(rule);
        if (known != null) {
            return new BucketState(known.by(rule).recover(now), last.allBut(known), skew, block);
        }
        List<RuleState<?>> others = last.recovered(now);
        RuleState<?> own = RuleState.adopt(rule, adoptedBy(rule, others, now), now);
        if (others.size() > MOST_OTHERS) {
            others.remove(leastNeeded(others, now));
        }
        return new BucketState(own, others, skew, block);
    }

    /** Returns the time of a clock as the bucket knows it, which never goes back. */
    long now(long clock) {
        return skew == null ? clock : skew.seen();
    }

    /** Returns whether nothing is taken by any of several rules: in Redis, the bucket has expired. */
    private boolean isForgotten(Rule<?> rule, @Nullable ClockSkew clockSkew, long now) {
        return (!others.isEmpty() || !own.rule().equals(rule))
                && clockSkew == null
                && Block.at(block, now) == null
                && recovered(now).stream().allMatch(state -> state.isUnused(now));
    }

    /**
     * Returns the state that a new rule adopts: the one with the most permits in use, the last used of equal ones; for a log
     * another log, if any, because of its entries.
     */
    private static RuleState<?> adoptedBy(Rule<?> rule, List<RuleState<?>> states, long now) {
        Comparator<RuleState<?>> otherLogsFirst = Comparator.comparing(state -> !rule.sharesEntriesWith(state.rule()));
        return Collections.min(states, otherLogsFirst.thenComparingLong(state -> -state.used(now)));
    }

    /**
     * Returns the index of the state that makes room for another: the one that was used longest ago, but not the one with the
     * largest capacity. Only that one has counted all permits that are not back, so only an unused one can be forgotten.
     */
    private static int leastNeeded(List<RuleState<?>> states, long now) {
        int last = states.size() - 1;
        RuleState<?> oldest = states.get(last);
        boolean needed = oldest.used(now) > 0
                && states.subList(0, last).stream()
                        .allMatch(
                                other -> other.rule().capacity() < oldest.rule().capacity());
        return needed ? last - 1 : last;
    }

    private List<RuleState<?>> recovered(long now) {
        List<RuleState<?>> recovered = new ArrayList<>(1 + others.size());
        recovered.add(own.recover(now));
        others.forEach(other -> recovered.add(other.recover(now)));
        return recovered;
    }

    /** Whether this is no more than the counter of one rule. */
    boolean isCount() {
        return others.isEmpty()
                && skew == null
                && block == null
                && own.rule() instanceof CounterRule
                && !own.remembersRefunds();
    }

    /** Returns the state after a caller was told when to try again. */
    BucketState promising(long retryMicros) {
        return skew == null ? this : new BucketState(own, others, skew.promising(retryMicros), block);
    }

    /** Whether the rule has a state here. If not, other rules replaced it, or the bucket was removed, and nothing can be undone. */
    boolean hasState(Rule<?> rule) {
        return state(rule) != null;
    }

    private @Nullable RuleState<?> state(Rule<?> rule) {
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

    private List<RuleState<?>> allBut(RuleState<?> state) {
        List<RuleState<?>> rest = new ArrayList<>(others.size());
        rest.add(own);
        for (RuleState<?> other : others) {
            if (other != state) {
                rest.add(other);
            }
        }
        return rest;
    }

    /** Returns the state after a call that the own rule has admitted. */
    BucketState charge(long now, long permits) {
        RuleState<?> charged = own.take(now, permits);
        return with(charged, other -> other.observe(now, permits, charged));
    }

    /** Returns the state after a charge that no rule has admitted: each of them counts it in full, and may be in debt. */
    BucketState force(long now, long permits) {
        RuleState<?> first = own.force(now, permits, null);
        return with(first, other -> other.force(now, permits, first));
    }

    private BucketState with(RuleState<?> newOwn, Function<RuleState<?>, RuleState<?>> ofOthers) {
        List<RuleState<?>> changed = others.isEmpty()
                ? others
                : others.stream().<RuleState<?>>map(ofOthers).toList();
        return new BucketState(newOwn, changed, skew, block);
    }

    BucketState with(@Nullable Block newBlock) {
        return new BucketState(own, others, skew, newBlock);
    }

    /** Returns the microseconds until the key is no longer blocked. */
    long blockedFor(long now) {
        return block == null ? 0 : block.left(now);
    }

    /** Returns the state after an operator's change. */
    BucketState change(BucketChange change, long now) {
        return switch (change.kind()) {
            // A reset has removed the bucket.
            case NONE, RESET -> this;
            case BLOCK -> with(Block.of(change.amount(), now));
            case UNBLOCK -> with(null);
            case GRANT -> with(own.grant(now, change.amount()), other -> other.grant(now, change.amount()));
        };
    }

    /** Returns what an operator sees. */
    BucketStatus status(long capacity, long now) {
        return new BucketStatus(
                capacity, Math.max(0, capacity - own.used(now)), micros(own.resetAfter(now)), micros(blockedFor(now)));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /** Returns how much is lost if the bucket is removed. */
    EvictionPriority use(long now) {
        EvictionPriority use = own.use(now);
        return block == null
                ? use
                : new EvictionPriority(
                        block.left(now) > 0 ? 1 : use.share(), Math.max(use.leftMicros(), block.memory(now)));
    }

    /**
     * Returns the state without a charge that the own rule admitted, or a part of it, except for permits that have come back. Other
     * rules of its kind have counted it, too. A log removes the entry from all logs of the bucket, because they share it, unless one
     * of them is full: it may have dropped older entries for this one.
     */
    BucketState refund(long now, long permits, long charged, ChargedPermits from) {
        boolean stays = others.stream()
                .anyMatch(other -> sharesEntries(other) && other.recover(now).isFull(now));
        List<RuleState<?>> left = new ArrayList<>(others);
        if (!stays) {
            left.replaceAll(other ->
                    sharesEntries(other) ? other.recover(now).refund(now, permits, charged, from, false) : other);
        }
        RuleState<?> refunded = own.refund(now, permits, charged, from, stays);
        if (!refunded.usage().equals(own.usage())) {
            left.replaceAll(other -> other.refundObserved(now, permits, from, own));
        }
        return new BucketState(refunded, left, skew, block);
    }

    private boolean sharesEntries(RuleState<?> other) {
        return own.rule().sharesEntriesWith(other.rule());
    }

    /** Returns the state to be stored; {@code null} if the bucket is full again by all its rules. */
    @Nullable
    BucketState settled(long now) {
        List<RuleState<?>> recovered =
                others.stream().<RuleState<?>>map(other -> other.recover(now)).toList();
        boolean unused = own.isUnused(now) && recovered.stream().allMatch(other -> other.isUnused(now));
        return unused && skew == null && block == null ? null : new BucketState(own, recovered, skew, block);
    }

    /**
     * Whether this must be stored even without a charge: the clock went back or has caught up, or the rule is new, has adopted
     * what others counted, and would again at each call; the key is blocked from now on, or its block is over.
     */
    boolean differsFrom(BucketState last) {
        boolean adopted = !others.isEmpty() && !last.hasState(own.rule());
        return adopted || skew != null || last.skew != null || block != last.block;
    }
}
