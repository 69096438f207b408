package io.ratelimit.redis.settlement;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.concurrent.Watchdog;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.door.RoundTrip;
import io.ratelimit.redis.door.Scheduler;
import io.ratelimit.redis.script.Receipt;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.redis.script.ScriptReply;
import io.ratelimit.redis.script.UnknownWindowException;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Refunds charges, and charges permits without asking, in the background. One script settles what waits, on a cluster of one
 * slot, and few scripts are under way, so that callers do not wait behind thousands of calls that end at once. The scripts never
 * count towards the circuit breaker. What Redis has not made, or may not have made because its reply is lost, is never sent again:
 * it is counted by {@link SettlementLosses}. A settlement belongs to the queue or to one script, and what takes it out of there ends it.
 */
public final class SettlementQueue {

    /** The largest number of settlements that wait. */
    static final int MOST_WAITING = 50_000;

    /** The largest number of scripts under way. */
    static final int MOST_UNDER_WAY = 8;

    /** The time of a round trip for which one more script is under way. */
    private static final long DISTANCE = Duration.ofNanos(2_500_000).toNanos();

    /** As many timeouts as a settlement waits while Redis fails. */
    private static final int PATIENCE = 10;

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final int mostWaiting;

    private final SettlementLosses losses;

    /** Of a script that has the server for itself. */
    private final RoundTrip roundTrip = new RoundTrip();

    /** By slot, the slot whose turn is next first. Guarded by this. */
    private final Map<Integer, Deque<QueuedSettlement>> waiting = new LinkedHashMap<>();

    /** Guarded by this. */
    private int waitingCount;

    /** Guarded by this. */
    private final Set<SettlementBatch> underWay = new HashSet<>();

    /** As of the last settlement. */
    private volatile boolean clustered;

    public SettlementQueue(GuardedRedis redis, ScriptCodec codec) {
        this(redis, codec, Scheduler.TIMER, MOST_WAITING);
        Watchdog.shared().watch(this, SettlementQueue::resume);
    }

    public SettlementQueue(GuardedRedis redis, ScriptCodec codec, Scheduler timer, int mostWaiting) {
        this.redis = redis;
        this.codec = codec;
        this.mostWaiting = mostWaiting;
        this.losses = new SettlementLosses(redis::nanos, timer);
    }

    /** Calls the listener with the limit of each settlement that is lost. */
    public void setLossListener(Consumer<RateLimit> listener) {
        losses.setListener(listener);
    }

    /**
     * Charges permits, whether the bucket holds them or not.
     *
     * @param name the key of the bucket
     * @return fails if they are lost
     */
    public CompletableFuture<Void> charge(Charge charge, byte[] name) {
        byte[] amount = ScriptCodec.forced(charge);
        return add(List.of(new QueuedSettlement(charge, charge.permits(), name, amount, redis.nanos())));
    }

    /**
     * Refunds parts of the charges of a call, if one script reaches them with one.
     *
     * @param permits how many are refunded, for each charge
     * @param names the keys of the charges' buckets
     * @return fails if one of them is lost
     */
    public CompletableFuture<Void> refund(
            List<Charge> charges, List<Long> permits, List<byte[]> names, List<Receipt> receipts) {
        List<QueuedSettlement> refunds = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            byte[] amount = codec.refund(charges.get(i), permits.get(i), receipts.get(i));
            refunds.add(new QueuedSettlement(charges.get(i), permits.get(i), names.get(i), amount, redis.nanos()));
        }
        return add(refunds);
    }

    private CompletableFuture<Void> add(List<QueuedSettlement> some) {
        if (!enqueueAll(some)) {
            lose(some, failure(Reason.STALLED, "more than " + mostWaiting + " settlements wait"));
        }
        send();
        return some.size() == 1 ? some.get(0).done() : done(some);
    }

    private static CompletableFuture<Void> done(List<QueuedSettlement> some) {
        return Futures.forAll(some, QueuedSettlement::done);
    }

    /** Returns whether there is space for them. */
    private synchronized boolean enqueueAll(List<QueuedSettlement> some) {
        boolean hasSpace = waitingCount + some.size() <= mostWaiting;
        if (hasSpace) {
            some.forEach(this::enqueue);
        }
        return hasSpace;
    }

    private void enqueue(QueuedSettlement next) {
        waiting.computeIfAbsent(slotOf(next), first -> new ArrayDeque<>()).add(next);
        waitingCount++;
    }

    private int slotOf(QueuedSettlement next) {
        try {
            clustered = redis.isClustered();
            return redis.slotOf(next.name());
        } catch (RuntimeException ex) {
            // The servers are not known, so that the script fails.
            return 0;
        }
    }

    private synchronized void enqueueAgain(List<QueuedSettlement> some) {
        some.forEach(this::enqueue);
    }

    private void lose(Collection<QueuedSettlement> some, Throwable failure) {
        some.forEach(item -> item.lost(failure, losses));
    }

    private static RateLimitStoreException failure(Reason reason, String problem) {
        return new RateLimitStoreException(reason, RedisTopology.REDIS + ": " + problem, null);
    }

    /** Sends what is due. */
    private void send() {
        for (SettlementBatch next = next(); next != null; next = next()) {
            SettlementBatch script = next;
            CompletableFuture<Map<Integer, Throwable>> reply = run(script);
            boolean immediate = reply.isDone();
            var unused = reply.handle((failures, thrown) -> {
                end(script, failures, thrown);
                if (!immediate) {
                    if (thrown == null) {
                        script.observe(roundTrip, redis.nanos());
                    }
                    send();
                }
                return null;
            });
        }
    }

    /** Returns why some settlements of the script were not made, by their indexes. */
    private CompletableFuture<Map<Integer, Throwable>> run(SettlementBatch script) {
        return Futures.start(() -> redis.executeInBackground(
                        script.each(QueuedSettlement::name),
                        codec.settleArguments(
                                script.each(QueuedSettlement::charge), script.each(QueuedSettlement::amount)),
                        redis.deadline()))
                .thenApply(ScriptReply::settlementFailures);
    }

    /** Takes the settlements of the next script, or returns {@code null} if none is due. */
    private synchronized @Nullable SettlementBatch next() {
        Iterator<Map.Entry<Integer, Deque<QueuedSettlement>>> slots =
                waiting.entrySet().iterator();
        if (!slots.hasNext() || underWay.size() >= mostUnderWay()) {
            return null;
        }
        Map.Entry<Integer, Deque<QueuedSettlement>> first = slots.next();
        slots.remove();
        Deque<QueuedSettlement> ofSlot = first.getValue();
        SettlementBatch script = new SettlementBatch(redis.nanos(), underWay.isEmpty());
        for (QueuedSettlement next = ofSlot.peek(); next != null && script.hasSpaceFor(next); next = ofSlot.peek()) {
            script.add(ofSlot.remove());
        }
        waitingCount -= script.items().size();
        if (!ofSlot.isEmpty()) {
            waiting.put(first.getKey(), ofSlot);
        }
        underWay.add(script);
        return script;
    }

    /** Called by the watchdog: a thread that does not return from the driver does not hold up the others for longer. */
    private @Nullable String resume() {
        if (overdue().isEmpty()) {
            return null;
        }
        redis.timer().runOnSender(this::endOverdue);
        return "Settlements were stuck in the driver of Redis; they are counted as lost";
    }

    /** Ends the scripts that the driver has not ended by their deadline, and sends what waits behind them. */
    void endOverdue() {
        overdue().forEach(script -> end(script, Map.of(), failure(Reason.TIMEOUT, "no answer in time")));
        send();
    }

    private List<SettlementBatch> overdue() {
        return underWay().stream()
                .filter(script -> redis.nanos() - script.sent() > patience())
                .toList();
    }

    /** Scripts of a cluster are of one slot, and go to several servers. */
    private long mostUnderWay() {
        return clustered ? MOST_UNDER_WAY : Math.max(1, Math.min(MOST_UNDER_WAY, roundTrip.nanos() / DISTANCE));
    }

    private long patience() {
        return PATIENCE * redis.timeout().toNanos();
    }

    /** Ends a script, once: with its reply, when it is overdue, or at the shutdown. */
    private void end(SettlementBatch script, Map<Integer, Throwable> failures, @Nullable Throwable thrown) {
        if (script.end()) {
            try {
                end(script.items(), failures, thrown);
            } finally {
                // Not before, so that a shutdown sees what waits again.
                synchronized (this) {
                    underWay.remove(script);
                }
            }
        }
    }

    /** Ends settlements, or has them wait again if Redis has certainly not made them. */
    private void end(List<QueuedSettlement> items, Map<Integer, Throwable> failures, @Nullable Throwable thrown) {
        if (thrown == null) {
            for (int i = 0; i < items.size(); i++) {
                end(items.get(i), failures.get(i));
            }
        } else if (items.size() > 1 && RedisFailureMapper.isOfSomeKeys(thrown)) {
            // A slot is moving, the server turned out to enforce slots, or an ACL forbids one of the keys.
            items.forEach(QueuedSettlement::sendAlone);
            enqueueAgain(items);
        } else {
            Throwable failure = RedisFailureMapper.of(RedisTopology.REDIS, thrown);
            lose(items, failure);
            // No caller waits long for a refund.
            lose(removeOlderThan(patience()), failure);
        }
    }

    private void end(QueuedSettlement item, @Nullable Throwable failure) {
        if (failure == null) {
            item.made();
        } else if (failure instanceof UnknownWindowException unknown && item.mayTryAgain()) {
            codec.renewWindows(List.of(item.charge()), unknown.micros());
            enqueueAgain(List.of(item));
        } else {
            item.lost(failure, losses);
        }
    }

    /** Removes what has waited for at least that time. */
    private synchronized List<QueuedSettlement> removeOlderThan(long nanos) {
        List<QueuedSettlement> old = new ArrayList<>();
        long now = redis.nanos();
        for (Deque<QueuedSettlement> ofSlot : waiting.values()) {
            while (!ofSlot.isEmpty() && now - ofSlot.element().since() >= nanos) {
                old.add(ofSlot.remove());
            }
        }
        waiting.values().removeIf(Deque::isEmpty);
        waitingCount -= old.size();
        return old;
    }

    /** Waits for what is not settled yet, at most for that time. What is not settled by then is lost. */
    public void drain(Duration time) {
        BoundedWait.await(done(open()), time);
        Throwable failure = failure(Reason.CLOSED, "the application ends");
        lose(removeOlderThan(0), failure);
        underWay().forEach(script -> end(script, Map.of(), failure));
        losses.logAtShutdown();
    }

    private synchronized List<QueuedSettlement> open() {
        List<QueuedSettlement> open = new ArrayList<>();
        underWay.forEach(script -> open.addAll(script.items()));
        waiting.values().forEach(open::addAll);
        return open;
    }

    private synchronized List<SettlementBatch> underWay() {
        return List.copyOf(underWay);
    }
}
