package io.ratelimit.redis;

import io.ratelimit.AlgorithmTraits;
import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * Refunds charges, and charges permits without asking, in the background. One script settles what waits, on a cluster of one
 * slot, and few scripts are under way, so that callers do not wait behind thousands of calls that end at once. The scripts never
 * count towards the circuit breaker.
 */
final class SettlementQueue {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The largest weight of a script, which takes Redis less than a millisecond. */
    static final int FULL = 64;

    /** The largest number of settlements that wait. */
    static final int MOST_WAITING = 50_000;

    /** The largest number of scripts under way. */
    static final int MOST_UNDER_WAY = 8;

    /** A refund in a log searches its entries. */
    private static final int LOG_WEIGHT = 16;

    /** The time of a round trip for which one more script is under way. */
    private static final long DISTANCE = Duration.ofNanos(2_500_000).toNanos();

    /** As many timeouts as a settlement waits while Redis fails. */
    private static final int PATIENCE = 10;

    /** More than one is needed if a bucket's time is ahead of the clock. */
    private static final int ATTEMPTS = 4;

    private static final String TOO_MANY = "more than " + MOST_WAITING + " settlements wait";

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    /** The time of a round trip of a script that has the server for itself. Guarded by this. */
    private long roundTrip;

    /** By slot, the slot whose turn is next first. Guarded by this. */
    private final Map<Integer, Deque<Settled>> waiting = new LinkedHashMap<>();

    /** Guarded by this. */
    private int waitingCount;

    /** When the scripts under way were sent. Guarded by this. */
    private final Map<Script, Long> underWay = new HashMap<>();

    /** Completes when nothing waits and no script is under way; {@code null} if no thread waits for that. Guarded by this. */
    private @Nullable CompletableFuture<Void> idle;

    /** As of the last settlement. Guarded by this. */
    private boolean clustered;

    private long refused;

    private long nextLog;

    SettlementQueue(GuardedRedis redis, ScriptCodec codec) {
        this.redis = redis;
        this.codec = codec;
        this.nextLog = redis.nanos();
    }

    /** Charges permits, whether the bucket holds them or not. */
    CompletableFuture<Void> charge(Charge charge, byte[] name) {
        return add(List.of(new Settled(charge, name, ScriptCodec.forced(charge), redis.nanos())));
    }

    /**
     * Refunds parts of the charges of a call, if one script reaches them with one.
     *
     * @param permits how many are refunded, for each charge
     * @param names the keys of the charges' buckets
     */
    CompletableFuture<Void> refund(
            List<Charge> charges, List<Long> permits, List<byte[]> names, List<Receipt> receipts) {
        List<Settled> refunds = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            byte[] amount = codec.refund(charges.get(i), permits.get(i), receipts.get(i));
            refunds.add(new Settled(charges.get(i), names.get(i), amount, redis.nanos()));
        }
        return add(refunds);
    }

    private CompletableFuture<Void> add(List<Settled> some) {
        boolean full;
        synchronized (this) {
            full = waitingCount + some.size() > MOST_WAITING;
            if (full) {
                countRefused(some.size());
            } else {
                some.forEach(this::enqueue);
            }
        }
        if (full) {
            return CompletableFuture.failedFuture(
                    new RateLimitStoreException(Reason.STALLED, "Redis: " + TOO_MANY, null));
        }
        send();
        return some.size() == 1
                ? some.get(0).done
                : CompletableFuture.allOf(some.stream().map(item -> item.done).toArray(CompletableFuture[]::new));
    }

    private void countRefused(int more) {
        refused += more;
        if (redis.nanos() - nextLog >= 0) {
            nextLog = redis.nanos() + MINUTE;
            logger.log(
                    Level.WARNING,
                    "Settlements of calls not sent to Redis (" + TOO_MANY + "): " + refused
                            + " so far; refunds among them are lost, and actual costs go by on-store-failure; logged once a minute");
        }
    }

    private void enqueue(Settled next) {
        waiting.computeIfAbsent(slotOf(next), first -> new ArrayDeque<>()).add(next);
        waitingCount++;
    }

    private int slotOf(Settled next) {
        try {
            clustered = redis.isClustered();
            return clustered ? ClusterSlotHashUtil.calculateSlot(next.name) : 0;
        } catch (RuntimeException ex) {
            // The servers are not known, so that the script fails.
            return 0;
        }
    }

    private synchronized void enqueueAgain(List<Settled> some) {
        some.forEach(this::enqueue);
    }

    /** Sends what is due. */
    private void send() {
        for (Script next = next(); next != null; next = next()) {
            Script script = next;
            CompletableFuture<List<Long>> reply = run(script);
            if (reply.isDone()) {
                over(script);
                tell(script, reply);
            } else {
                var unused = reply.whenComplete((numbers, thrown) -> {
                    over(script);
                    if (thrown == null) {
                        observe(script, redis.nanos() - script.sent);
                    } else {
                        expire(Futures.unwrap(thrown));
                    }
                    send();
                    tell(script, reply);
                });
            }
        }
        tellIfIdle();
    }

    /**
     * With others under way, the time includes theirs, and tells only that the server is no farther. Else more scripts would take
     * longer, so that still more were sent.
     */
    private synchronized void observe(Script script, long time) {
        long known = roundTrip;
        if (time < known) {
            roundTrip = known + (time - known) / 2;
        } else if (script.alone) {
            // A single late reply means little.
            roundTrip = known == 0 ? time : known + (time - known) / 8;
        }
    }

    private CompletableFuture<List<Long>> run(Script script) {
        return Futures.start(() -> redis.executeInBackground(
                script.items.stream().map(item -> item.name).toList(),
                codec.settleArguments(
                        script.items.stream().map(item -> item.charge).toList(),
                        script.items.stream().map(item -> item.amount).toList()),
                redis.deadline()));
    }

    /** Takes the settlements of the next script, or returns {@code null} if none is due. */
    private synchronized @Nullable Script next() {
        Iterator<Map.Entry<Integer, Deque<Settled>>> slots = waiting.entrySet().iterator();
        if (!slots.hasNext() || sentLately() >= mostUnderWay()) {
            return null;
        }
        Map.Entry<Integer, Deque<Settled>> first = slots.next();
        slots.remove();
        Deque<Settled> ofSlot = first.getValue();
        Script script = new Script(redis.nanos(), underWay.isEmpty());
        for (Settled next = ofSlot.peek(); next != null && script.hasSpaceFor(next); next = ofSlot.peek()) {
            script.items.add(next);
            script.weight += next.weight();
            ofSlot.remove();
        }
        waitingCount -= script.items.size();
        if (!ofSlot.isEmpty()) {
            waiting.put(first.getKey(), ofSlot);
        }
        underWay.put(script, script.sent);
        return script;
    }

    /** A thread that does not return from the driver does not hold up the others for longer. */
    private int sentLately() {
        long now = redis.nanos();
        underWay.values().removeIf(sent -> now - sent > patience());
        return underWay.size();
    }

    /** Scripts of a cluster are of one slot, and go to several servers. */
    private long mostUnderWay() {
        return clustered ? MOST_UNDER_WAY : Math.max(1, Math.min(MOST_UNDER_WAY, roundTrip / DISTANCE));
    }

    private long patience() {
        return PATIENCE * redis.timeout().toNanos();
    }

    private synchronized void over(Script script) {
        underWay.remove(script);
    }

    /** Fails what has waited for long when a script fails. So nothing waits for a Redis that hangs, and no caller for a refund. */
    private void expire(Throwable failure) {
        List<Settled> expired = new ArrayList<>();
        synchronized (this) {
            long now = redis.nanos();
            for (Deque<Settled> ofSlot : waiting.values()) {
                while (!ofSlot.isEmpty() && now - ofSlot.element().since > patience()) {
                    expired.add(ofSlot.remove());
                }
            }
            waiting.values().removeIf(Deque::isEmpty);
            waitingCount -= expired.size();
        }
        expired.forEach(item -> item.done.completeExceptionally(failure));
    }

    private void tell(Script script, CompletableFuture<List<Long>> reply) {
        var unused = reply.handle((numbers, thrown) -> {
            if (thrown == null) {
                tell(script.items, numbers);
            } else if (script.items.size() > 1 && RedisFailureMapper.areKeysApart(thrown)) {
                // The script has not run: a slot is moving, or the server turned out to enforce slots.
                script.items.forEach(item -> item.alone = true);
                enqueueAgain(script.items);
                send();
            } else {
                script.items.forEach(item -> item.done.completeExceptionally(Futures.unwrap(thrown)));
            }
            return null;
        });
    }

    private void tell(List<Settled> items, List<Long> reply) {
        Map<Integer, Throwable> failures = codec.settlementFailures(reply);
        List<Settled> again = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Settled item = items.get(i);
            Throwable failure = failures.get(i);
            if (failure instanceof UnknownWindowException unknown && item.attempts.getAndIncrement() < ATTEMPTS) {
                codec.renewWindows(List.of(item.charge), unknown.micros());
                again.add(item);
            } else if (failure != null) {
                item.done.completeExceptionally(failure);
            } else {
                item.done.complete(null);
            }
        }
        if (!again.isEmpty()) {
            enqueueAgain(again);
            send();
        }
    }

    /** Waits until everything is settled, at most for that time. */
    void drain(Duration time) {
        CompletableFuture<Void> over;
        synchronized (this) {
            if (isIdle()) {
                return;
            }
            over = idle == null ? new CompletableFuture<>() : idle;
            idle = over;
        }
        BoundedWait.await(over, time);
    }

    private boolean isIdle() {
        return waitingCount == 0 && sentLately() == 0;
    }

    private void tellIfIdle() {
        CompletableFuture<Void> over = null;
        synchronized (this) {
            if (idle != null && isIdle()) {
                over = idle;
                idle = null;
            }
        }
        if (over != null) {
            over.complete(null);
        }
    }

    /** The settlement of one charge. */
    private static final class Settled {

        private final Charge charge;

        private final byte[] name;

        private final byte[] amount;

        private final long since;

        private final CompletableFuture<Void> done = new CompletableFuture<>();

        private final AtomicInteger attempts = new AtomicInteger(1);

        /** Whether it needs a script of its own. */
        private volatile boolean alone;

        Settled(Charge charge, byte[] name, byte[] amount, long since) {
            this.charge = charge;
            this.name = name;
            this.amount = amount;
            this.since = since;
        }

        int weight() {
            return alone ? FULL : AlgorithmTraits.of(charge.limit()).hasEntries() ? LOG_WEIGHT : 1;
        }
    }

    /** Settlements that are sent together. */
    private static final class Script {

        private final List<Settled> items = new ArrayList<>();

        private final long sent;

        /** Whether no other was under way then. */
        private final boolean alone;

        private int weight;

        Script(long sent, boolean alone) {
            this.sent = sent;
            this.alone = alone;
        }

        boolean hasSpaceFor(Settled next) {
            return items.isEmpty() || weight + next.weight() <= FULL;
        }
    }
}
