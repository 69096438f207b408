package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.TimeSource;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.concurrent.Watchdog;
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
import org.jspecify.annotations.Nullable;
import org.springframework.core.log.LogAccessor;

/**
 * Refunds charges, and charges permits without asking, in the background. One script settles what waits, on a cluster of one
 * slot, and few scripts are under way, so that callers do not wait behind thousands of calls that end at once. The scripts never
 * count towards the circuit breaker. What a failing Redis has certainly not made is kept in a {@link SettlementBacklog}.
 */
final class SettlementQueue {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** A JVM that is stopped ends {@code java.util.logging} before the application, and its lines with it. */
    private static final LogAccessor shutdownLogger = new LogAccessor("io.ratelimit.redis");

    /** The largest number of settlements that wait, and of those that are kept while Redis fails. */
    static final int MOST_WAITING = 50_000;

    /** The largest number of scripts under way. */
    static final int MOST_UNDER_WAY = 8;

    /** The time of a round trip for which one more script is under way. */
    private static final long DISTANCE = Duration.ofNanos(2_500_000).toNanos();

    /** As many timeouts as a settlement waits while Redis fails. */
    private static final int PATIENCE = 10;

    private static final String TOO_MANY = "more than " + MOST_WAITING + " settlements wait";

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    /** The time of a round trip of a script that has the server for itself. Guarded by this. */
    private long roundTrip;

    /** By slot, the slot whose turn is next first. Guarded by this. */
    private final Map<Integer, Deque<QueuedSettlement>> waiting = new LinkedHashMap<>();

    /** Guarded by this. */
    private int waitingCount;

    /** When the scripts under way were sent. Guarded by this. */
    private final Map<Script, Long> underWay = new HashMap<>();

    private final SettlementBacklog backlog;

    /** Completes when there is nothing to settle now; {@code null} if no thread waits for that. Guarded by this. */
    private @Nullable CompletableFuture<Void> idle;

    /** As of the last settlement. */
    private volatile boolean clustered;

    private long refused;

    private long nextLog;

    SettlementQueue(GuardedRedis redis, ScriptCodec codec) {
        this(redis, codec, Scheduler.TIMER, () -> System.currentTimeMillis() * 1_000);
        Watchdog.shared().watch(this, SettlementQueue::resumeBacklog);
    }

    /** @param calendar tells in which calendar window a call was over, for what is kept */
    SettlementQueue(GuardedRedis redis, ScriptCodec codec, Scheduler timer, TimeSource calendar) {
        this.redis = redis;
        this.codec = codec;
        this.nextLog = redis.nanos();
        this.backlog = new SettlementBacklog(redis, timer, calendar, MOST_WAITING, new Waiting());
    }

    /**
     * Charges permits, whether the bucket holds them or not.
     *
     * @param name the key of the bucket
     * @param kept whether they are charged later if Redis fails; if not, the caller may charge them again
     */
    CompletableFuture<Void> charge(Charge charge, byte[] name, boolean kept) {
        return add(List.of(QueuedSettlement.charging(charge, name, redis.nanos(), kept)));
    }

    /**
     * Refunds parts of the charges of a call, if one script reaches them with one.
     *
     * @param permits how many are refunded, for each charge
     * @param names the keys of the charges' buckets
     */
    CompletableFuture<Void> refund(
            List<Charge> charges, List<Long> permits, List<byte[]> names, List<Receipt> receipts) {
        List<QueuedSettlement> refunds = new ArrayList<>(charges.size());
        for (int i = 0; i < charges.size(); i++) {
            byte[] amount = codec.refund(charges.get(i), permits.get(i), receipts.get(i));
            refunds.add(new QueuedSettlement(charges.get(i), names.get(i), amount, redis.nanos(), true));
        }
        return add(refunds);
    }

    private CompletableFuture<Void> add(List<QueuedSettlement> some) {
        // Those of one call are in one slot.
        Throwable failure = backlog.failureOf(slotOf(some.get(0)), some);
        if (failure == null) {
            failure = enqueueOrRefuse(some);
        }
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        send();
        return some.size() == 1
                ? some.get(0).done()
                : CompletableFuture.allOf(
                        some.stream().map(QueuedSettlement::done).toArray(CompletableFuture[]::new));
    }

    private synchronized @Nullable Throwable enqueueOrRefuse(List<QueuedSettlement> some) {
        if (waitingCount + some.size() > MOST_WAITING) {
            countRefused(some.size());
            return new RateLimitStoreException(Reason.STALLED, "Redis: " + TOO_MANY, null);
        }
        some.forEach(this::enqueue);
        return null;
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

    /** Sends what is due. */
    private void send() {
        for (Script next = next(); next != null; next = next()) {
            Script script = next;
            CompletableFuture<List<Long>> reply = run(script);
            boolean immediate = reply.isDone();
            var unused = reply.handle((numbers, thrown) -> {
                // What is sent again waits before the script is over, so that a shutdown waits for it.
                Runnable results = resultsOrFailure(script, numbers, thrown);
                try {
                    over(script);
                    if (!immediate) {
                        if (thrown == null) {
                            observe(script, redis.nanos() - script.sent);
                        }
                        send();
                    }
                } finally {
                    results.run();
                }
                return null;
            });
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
                script.items.stream().map(QueuedSettlement::name).toList(),
                codec.settleArguments(
                        script.items.stream().map(QueuedSettlement::charge).toList(),
                        script.items.stream().map(QueuedSettlement::amount).toList()),
                redis.deadline()));
    }

    /** Takes the settlements of the next script, or returns {@code null} if none is due. */
    private synchronized @Nullable Script next() {
        Iterator<Map.Entry<Integer, Deque<QueuedSettlement>>> slots =
                waiting.entrySet().iterator();
        if (!slots.hasNext() || sentLately() >= mostUnderWay()) {
            return null;
        }
        Map.Entry<Integer, Deque<QueuedSettlement>> first = slots.next();
        while (backlog.isSuspected(first.getKey())) {
            if (!slots.hasNext()) {
                return null;
            }
            first = slots.next();
        }
        slots.remove();
        Deque<QueuedSettlement> ofSlot = first.getValue();
        Script script = new Script(first.getKey(), redis.nanos(), underWay.isEmpty());
        for (QueuedSettlement next = ofSlot.peek(); next != null && script.hasSpaceFor(next); next = ofSlot.peek()) {
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

    /** Fails what has waited for long when a script fails. So no caller waits long for a refund. */
    private void expire(Throwable failure) {
        Map<Integer, List<QueuedSettlement>> expired = new HashMap<>();
        synchronized (this) {
            long now = redis.nanos();
            waiting.forEach((slot, ofSlot) -> {
                while (!ofSlot.isEmpty() && now - ofSlot.element().since() > patience()) {
                    expired.computeIfAbsent(slot, first -> new ArrayList<>()).add(ofSlot.remove());
                    waitingCount--;
                }
            });
            waiting.values().removeIf(Deque::isEmpty);
        }
        expired.forEach((slot, ofSlot) -> {
            backlog.notRun(slot, ofSlot, failure);
            ofSlot.forEach(item -> item.done().completeExceptionally(failure));
        });
    }

    /** A reply that cannot be read is a failure of all, which callers may wait for. */
    private Runnable resultsOrFailure(Script script, List<Long> reply, @Nullable Throwable thrown) {
        try {
            return resultsOf(script, reply, thrown);
        } catch (Throwable ex) {
            Throwable failure = RedisFailureMapper.of(RedisTopology.REDIS, ex);
            return () -> script.items.forEach(item -> item.done().completeExceptionally(failure));
        }
    }

    /** Reads the reply, and has settlements sent again. Returns what tells the others. */
    private Runnable resultsOf(Script script, List<Long> reply, @Nullable Throwable thrown) {
        if (thrown == null) {
            return resultsOf(script.items, reply);
        }
        if (script.items.size() > 1 && RedisFailureMapper.isOfSomeKeys(thrown)) {
            // The script has not run: a slot is moving, the server turned out to enforce slots, or an ACL forbids one
            // of the keys.
            script.items.forEach(QueuedSettlement::sendAlone);
            enqueueAgain(script.items);
            return () -> {};
        }
        Throwable failure = Futures.unwrap(thrown);
        backlog.failed(script.slot, script.items, failure);
        return () -> {
            script.items.forEach(item -> item.done().completeExceptionally(failure));
            expire(failure);
        };
    }

    private Runnable resultsOf(List<QueuedSettlement> items, List<Long> reply) {
        Map<Integer, Throwable> failures = codec.settlementFailures(reply);
        List<QueuedSettlement> again = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            QueuedSettlement item = items.get(i);
            if (failures.get(i) instanceof UnknownWindowException unknown && item.mayTryAgain()) {
                codec.renewWindows(List.of(item.charge()), unknown.micros());
                again.add(item);
            }
        }
        enqueueAgain(again);
        return () -> {
            for (int i = 0; i < items.size(); i++) {
                Throwable failure = failures.get(i);
                if (failure == null) {
                    items.get(i).done().complete(null);
                } else if (!again.contains(items.get(i))) {
                    items.get(i).done().completeExceptionally(failure);
                }
            }
        };
    }

    /** Waits until everything is settled that a server can settle now, at most for that time. */
    void drain(Duration time) {
        BoundedWait.await(idle(), time);
        int kept = backlog.size();
        if (kept > 0) {
            shutdownLogger.warn("Settlements of calls lost, because Redis fails while the application ends: " + kept
                    + " (those of one bucket count once); the estimates stay charged");
        }
    }

    /** Returns what is completed when nothing waits, or is kept for a server that answers, and no script is under way. */
    synchronized CompletableFuture<Void> idle() {
        if (isIdle()) {
            return CompletableFuture.completedFuture(null);
        }
        if (idle == null) {
            idle = new CompletableFuture<>();
        }
        return idle;
    }

    /** As {@link SettlementBacklog#resume}. */
    @Nullable
    String resumeBacklog() {
        return backlog.resume();
    }

    private boolean isIdle() {
        return waitingCount == 0 && sentLately() == 0 && !backlog.isSending();
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

    /** The settlements that wait, as the backlog sees them. */
    private final class Waiting implements SettlementBacklog.Queued {

        @Override
        public List<QueuedSettlement> remove(String server) {
            List<QueuedSettlement> removed = new ArrayList<>();
            synchronized (SettlementQueue.this) {
                waiting.entrySet().removeIf(ofSlot -> {
                    boolean found = redis.serverNameOf(ofSlot.getKey()).equals(server);
                    if (found) {
                        removed.addAll(ofSlot.getValue());
                    }
                    return found;
                });
                waitingCount -= removed.size();
            }
            // The shutdown may wait for what does not wait any more.
            tellIfIdle();
            return removed;
        }

        @Override
        public void send(List<QueuedSettlement> settlements) {
            enqueueAgain(settlements);
            SettlementQueue.this.send();
        }

        @Override
        public void refuse(int settlements) {
            synchronized (SettlementQueue.this) {
                countRefused(settlements);
            }
        }
    }

    /** Settlements that are sent together. */
    private static final class Script {

        private final List<QueuedSettlement> items = new ArrayList<>();

        private final int slot;

        private final long sent;

        /** Whether no other was under way then. */
        private final boolean alone;

        private int weight;

        Script(int slot, long sent, boolean alone) {
            this.slot = slot;
            this.sent = sent;
            this.alone = alone;
        }

        boolean hasSpaceFor(QueuedSettlement next) {
            return items.isEmpty() || weight + next.weight() <= QueuedSettlement.FULL;
        }
    }
}
