package io.ratelimit.redis;

import io.ratelimit.CalendarWindows;
import io.ratelimit.Charge;
import io.ratelimit.Rate;
import io.ratelimit.RateLimit;
import io.ratelimit.TimeSource;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/**
 * The settlements that are kept for one server while it fails. Charges of one bucket are joined. What the limit has refilled
 * meanwhile is subtracted, so that no caller is charged more than if Redis had not failed. In a calendar window nothing is refilled
 * before its end, and then everything. Not thread-safe.
 */
final class KeptSettlements {

    private final Map<Bucket, KeptCharge> charges = new LinkedHashMap<>();

    private final Queue<QueuedSettlement> refunds = new ArrayDeque<>();

    private final TimeSource calendar;

    /**
     * @param calendar tells in which calendar window a call was over: this instance's time, because that of a server that fails is
     *     not known
     */
    KeptSettlements(TimeSource calendar) {
        this.calendar = calendar;
    }

    /** Returns the number of buckets and refunds. */
    int size() {
        return charges.size() + refunds.size();
    }

    /** Returns whether the settlement takes no more space. */
    boolean joins(QueuedSettlement settlement) {
        return settlement.charges() && charges.containsKey(Bucket.of(settlement));
    }

    void add(QueuedSettlement settlement, long now) {
        if (settlement.charges()) {
            charges.merge(
                    Bucket.of(settlement),
                    new KeptCharge(settlement.charge().permits(), settlement.since(), settlement.name()),
                    (known, more) -> join(known, more, settlement.charge().limit(), now));
        } else {
            refunds.add(settlement);
        }
    }

    /** Removes and returns the oldest ones, so many at most, except charges that have been refilled. */
    List<QueuedSettlement> remove(int most, long now) {
        List<QueuedSettlement> removed = new ArrayList<>();
        while (removed.size() < most && !refunds.isEmpty()) {
            removed.add(refunds.remove());
        }
        Iterator<Map.Entry<Bucket, KeptCharge>> next = charges.entrySet().iterator();
        while (removed.size() < most && next.hasNext()) {
            Map.Entry<Bucket, KeptCharge> entry = next.next();
            next.remove();
            Bucket bucket = entry.getKey();
            KeptCharge kept = entry.getValue();
            long permits = Math.round(left(kept, bucket.limit, now));
            if (permits > 0) {
                Charge charge = new Charge(bucket.limit, null, permits);
                removed.add(QueuedSettlement.charging(charge, kept.name, now, true));
            }
        }
        return removed;
    }

    /** The limit is that of the plan, with whose rule the bucket is charged. */
    private record Bucket(RateLimit limit, ByteBuffer name) {

        static Bucket of(QueuedSettlement settlement) {
            return new Bucket(settlement.charge().limit(), ByteBuffer.wrap(settlement.name()));
        }
    }

    /**
     * The charges of one bucket.
     *
     * @param permits as of then, in parts, so that nothing is lost when charges are joined often
     */
    // Never compared.
    @SuppressWarnings("ArrayRecordComponent")
    private record KeptCharge(double permits, long since, byte[] name) {}

    private KeptCharge join(KeptCharge known, KeptCharge more, RateLimit limit, long now) {
        double permits = left(known, limit, now) + left(more, limit, now);
        return new KeptCharge(Math.min(permits, RateLimit.MAX_CAPACITY), now, known.name);
    }

    /** Subtracts what the limit has refilled since. */
    private double left(KeptCharge kept, RateLimit limit, long now) {
        double age = Math.max(0, now - kept.since) / 1_000.0;
        CalendarWindows windows = CalendarWindows.of(limit);
        if (windows != null) {
            long time = calendar.micros();
            return time - age >= windows.at(time).start() ? kept.permits : 0;
        }
        Rate rate = limit.rate();
        return Math.max(0, kept.permits - rate.permits() * age / rate.periodMicros());
    }
}
