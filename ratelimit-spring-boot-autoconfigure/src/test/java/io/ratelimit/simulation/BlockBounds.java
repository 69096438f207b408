package io.ratelimit.simulation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** When the key of one bucket is blocked, as far as it is known. */
final class BlockBounds {

    /** Before the beginning of the simulation. */
    private static final long NEVER = -1;

    /** A violation that is one only if one of the calls under way is admitted. */
    record Suspicion(Set<Take> others, long until) {}

    private final List<Suspicion> suspicions = new ArrayList<>();

    /** The first call that was sent after an operator had blocked the key. */
    private long firstCall;

    private long certainlyUntil;

    /** Instances that an operator's block has not reached: those hand out what they have leased until the lease ends. */
    private Set<String> uninformed = new HashSet<>();

    /** When leases from before an operator's block end. */
    private long leasedUntil;

    private long possiblyUntil = NEVER;

    /** The possible block is certain, so that no further rejection begins another one before it ends. */
    private boolean isSure;

    /** What is left of a block when the store's clock is set back. */
    private long left;

    /** Returns when the latest block ends that there may be. */
    long possiblyUntil() {
        return suspicions.stream().mapToLong(Suspicion::until).reduce(possiblyUntil, Math::max);
    }

    /** Returns whether a violation begins no block, because there is one. */
    boolean isSure(long now) {
        return isSure && possiblyUntil - now > Model.SLACK;
    }

    /** Returns whether a call may be admitted. */
    boolean admits(Take take, long now) {
        boolean leased = take.numbers.lease() > 0 && uninformed.contains(take.instance) && now < leasedUntil;
        return take.number < firstCall || now >= certainlyUntil || leased;
    }

    /** There may be a block, besides others. */
    void mayBegin(long until) {
        possiblyUntil = Math.max(possiblyUntil, until);
        isSure = false;
    }

    /** A call may have violated the limit. */
    void suspect(Set<Take> others, long until) {
        suspicions.add(new Suspicion(others, until));
    }

    /**
     * A call is not under way any more.
     *
     * @return whether a rejection turns out to have begun no block
     */
    boolean land(Take take, boolean taken) {
        boolean cleared = false;
        for (Suspicion suspicion : List.copyOf(suspicions)) {
            suspicion.others.remove(take);
            if (taken || suspicion.others.isEmpty()) {
                suspicions.remove(suspicion);
                if (taken) {
                    mayBegin(suspicion.until);
                } else {
                    cleared = true;
                }
            }
        }
        return cleared;
    }

    /** There is a block, and no other. */
    void begin(long until) {
        end();
        possiblyUntil = until;
        isSure = true;
    }

    /**
     * An operator has blocked the key. It replaces the present block, also a longer one.
     *
     * @param others the instances that a message has to reach
     */
    void beginByOperator(long firstCall, long until, Set<String> others, long leasedUntil) {
        begin(until + Model.SLACK);
        this.firstCall = firstCall;
        this.leasedUntil = leasedUntil;
        certainlyUntil = until;
        uninformed = new HashSet<>(others);
    }

    /** The message of an operator's block has reached an instance. */
    void inform(String instance) {
        uninformed.remove(instance);
    }

    /** An operator may have blocked the key. */
    void mayBeginByOperator(long until) {
        mayBegin(until + Model.SLACK);
        certainlyUntil = Math.min(certainlyUntil, until);
    }

    /** A block may have ended. */
    void mayEnd() {
        isSure = false;
        certainlyUntil = 0;
    }

    /** No key is blocked. */
    void end() {
        possiblyUntil = NEVER;
        isSure = false;
        certainlyUntil = 0;
        suspicions.clear();
    }

    /** The store's clock was set back. */
    void setBack(long now, long by) {
        certainlyUntil = 0;
        left = Math.max(0, possiblyUntil() - now);
        if (left > 0) {
            mayBegin(possiblyUntil() + by);
        }
    }

    /** The store's clock runs on. */
    void thaw(long now) {
        mayBegin(now + left);
    }
}
