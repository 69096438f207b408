package io.ratelimit.redis.settlement;

import io.ratelimit.redis.door.RoundTrip;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/** Collects settlements that one script makes. It ends once, and they with it, unless they wait for another. */
final class SettlementBatch {

    private final List<QueuedSettlement> items = new ArrayList<>();

    private final AtomicBoolean ended = new AtomicBoolean();

    private final long sent;

    private final boolean alone;

    private int weight;

    /**
     * @param sent the time
     * @param alone whether no other is under way
     */
    SettlementBatch(long sent, boolean alone) {
        this.sent = sent;
        this.alone = alone;
    }

    long sent() {
        return sent;
    }

    List<QueuedSettlement> items() {
        return items;
    }

    /** Returns a part of each settlement. */
    <T> List<T> each(Function<QueuedSettlement, T> part) {
        return items.stream().map(part).toList();
    }

    boolean hasSpaceFor(QueuedSettlement next) {
        return items.isEmpty() || weight + next.weight() <= QueuedSettlement.FULL;
    }

    void add(QueuedSettlement next) {
        items.add(next);
        weight += next.weight();
    }

    /**
     * With others under way, the time includes theirs, and tells only that the server is no farther. Else more scripts would take
     * longer, so that still more were sent.
     */
    void observe(RoundTrip roundTrip, long now) {
        if (alone || now - sent < roundTrip.nanos()) {
            roundTrip.add(now - sent);
        }
    }

    /** Returns whether this ends it, because nothing has yet. */
    boolean end() {
        return ended.compareAndSet(false, true);
    }
}
