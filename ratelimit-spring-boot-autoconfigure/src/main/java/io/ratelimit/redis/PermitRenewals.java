package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.concurrent.Futures;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Renews the permits of all calls that hold some, every third of their {@code hold}, many in one script, and counts those that had
 * expired or that Redis had lost.
 */
final class PermitRenewals {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The largest number of calls whose permits one script renews, so that it keeps no other caller of Redis waiting for long. */
    static final int IN_SCRIPT = 10_000;

    /** How many calls more a script could renew in the time that it takes for a bucket. */
    private static final int BUCKET = 9;

    /** How many scripts of renewals are under way at a time. On a cluster there is one for each slot, however far away. */
    static final int AT_A_TIME = 64;

    /** Between two attempts to reach a Redis that fails. */
    static final Duration RETRY = Duration.ofMillis(500);

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final ObjLongConsumer<Runnable> timer;

    private final LongSupplier nanos;

    private final Collection<PermitHolder> held;

    private final Consumer<PermitHolder> releaseAgain;

    private final Map<Duration, RenewalRound> rounds = new ConcurrentHashMap<>();

    /** Called with the number of permits that were lost. */
    private volatile LongConsumer lossListener = permits -> {};

    /**
     * @param timer runs a task after a time in nanoseconds
     * @param held what is to be renewed
     * @param releaseAgain called for permits that were released during their renewal, which may have come to Redis after the release
     */
    PermitRenewals(
            GuardedRedis redis,
            ScriptCodec codec,
            ObjLongConsumer<Runnable> timer,
            LongSupplier nanos,
            Collection<PermitHolder> held,
            Consumer<PermitHolder> releaseAgain) {
        this.redis = redis;
        this.codec = codec;
        this.timer = timer;
        this.nanos = nanos;
        this.held = held;
        this.releaseAgain = releaseAgain;
    }

    void setLossListener(LongConsumer listener) {
        lossListener = listener;
    }

    /** Plans the next round for limits with that hold, unless it is planned. */
    void begin(Duration hold) {
        rounds.computeIfAbsent(hold, RenewalRound::new).begin();
    }

    /** Continues rounds that have ended too early. Returns whether there were any. */
    boolean resume() {
        boolean found = false;
        for (RenewalRound round : rounds.values()) {
            found |= round.resume();
        }
        return found;
    }

    /** Renews the permits of all calls of limits with the same hold. */
    private final class RenewalRound {

        private final Duration hold;

        /** Between two rounds, in nanoseconds. */
        private final long pause;

        private boolean planned;

        /** Of the attempt that is planned. An earlier one was overtaken. */
        private int attempt;

        /** When the attempt is due. */
        private long due;

        /** Whether scripts are under way. */
        private boolean sending;

        private long begun;

        /** Whether scripts of the round have failed, so that the next attempt goes on with it. */
        private boolean unfinished;

        /** Whether the attempt before has found permits that were lost, and the log tells. */
        private boolean logged;

        RenewalRound(Duration hold) {
            this.hold = hold;
            this.pause = hold.dividedBy(3).toNanos();
        }

        /** Plans the next round unless it is planned. */
        synchronized void begin() {
            if (!planned) {
                planned = true;
                unfinished = false;
                plan(pause);
            }
        }

        private synchronized void plan(long delay) {
            int next = ++attempt;
            due = nanos.getAsLong() + delay;
            sending = false;
            timer.accept(() -> run(next), delay);
        }

        /** Returns whether an attempt was long overdue, which takes place now. */
        synchronized boolean resume() {
            boolean stuck = planned && !sending && nanos.getAsLong() - due > Math.max(pause, RETRY.toNanos()) / 2;
            if (stuck) {
                plan(0);
            }
            return stuck;
        }

        private void run(int number) {
            try {
                List<PermitHolder> some = due(number);
                if (some != null) {
                    Renewal renewal = new Renewal(redis.bySlot(
                            byBucket(some),
                            bucket -> bucket.get(0).name(),
                            bucket -> BUCKET + bucket.size(),
                            IN_SCRIPT));
                    var unused = renewal.send().whenComplete((done, thrown) -> ended(renewal, thrown != null));
                }
            } catch (Throwable ex) {
                logger.log(Level.DEBUG, "A renewal of permits failed; trying again", ex);
                ended(null, true);
            }
        }

        /** Returns the calls whose permits are to be renewed now; {@code null} if there are none any more. */
        private synchronized @Nullable List<PermitHolder> due(int number) {
            if (number != attempt) {
                return null;
            }
            long now = nanos.getAsLong();
            if (!unfinished || now - begun >= pause) {
                begun = now;
            }
            boolean any = false;
            List<PermitHolder> due = new ArrayList<>();
            for (PermitHolder taken : held) {
                if (taken.charge().limit().hold().equals(hold)) {
                    any = true;
                    if (!taken.wasRenewedSince(begun)) {
                        due.add(taken);
                    }
                }
            }
            planned = any && !redis.isClosed();
            sending = planned;
            return planned ? due : null;
        }

        private synchronized void ended(@Nullable Renewal renewal, boolean failed) {
            unfinished = failed;
            try {
                if (renewal != null) {
                    log(renewal.lost);
                }
            } finally {
                long left = pause - (nanos.getAsLong() - begun);
                plan(failed ? Math.min(RETRY.toNanos(), pause) : Math.max(0, left));
            }
        }

        private void log(Map<String, Long> lostNow) {
            if (!lostNow.isEmpty() && !logged) {
                logger.log(
                        Level.WARNING,
                        "Permits of running calls had expired or were lost by Redis ("
                                + lostNow.values().stream()
                                        .mapToLong(Long::longValue)
                                        .sum()
                                + " of the limits " + String.join(", ", lostNow.keySet())
                                + "); counting them again, but others may have taken them meanwhile");
            }
            logged = !lostNow.isEmpty();
        }
    }

    /** Sends scripts, some at a time, all of them even if some fail. */
    private final class Renewal {

        /** The calls of each, by bucket. */
        private final Iterator<List<List<PermitHolder>>> scripts;

        private final CompletableFuture<Void> done = new CompletableFuture<>();

        /** How many permits were lost, by limit. */
        private final Map<String, Long> lost = new ConcurrentSkipListMap<>();

        private int underWay;

        private @Nullable Throwable failure;

        Renewal(List<List<List<PermitHolder>>> scripts) {
            this.scripts = scripts.iterator();
        }

        CompletableFuture<Void> send() {
            for (List<List<PermitHolder>> script = next(); script != null; script = next()) {
                List<List<PermitHolder>> buckets = script;
                CompletableFuture<Void> sent = Futures.start(() -> renew(buckets, lost));
                if (sent.isDone()) {
                    var unused = sent.whenComplete((nothing, thrown) -> ended(thrown));
                } else {
                    var unused = sent.whenComplete((nothing, thrown) -> {
                        ended(thrown);
                        var unusedToo = send();
                    });
                }
            }
            return done;
        }

        private synchronized @Nullable List<List<PermitHolder>> next() {
            if (underWay == AT_A_TIME || !scripts.hasNext()) {
                if (underWay == 0) {
                    finish();
                }
                return null;
            }
            underWay++;
            return scripts.next();
        }

        private synchronized void ended(@Nullable Throwable thrown) {
            underWay--;
            failure = thrown == null ? failure : thrown;
        }

        private void finish() {
            if (failure == null) {
                done.complete(null);
            } else {
                done.completeExceptionally(failure);
            }
        }
    }

    private CompletableFuture<Void> renew(List<List<PermitHolder>> planned, Map<String, Long> lostNow) {
        List<List<PermitHolder>> buckets = planned.stream()
                .map(bucket ->
                        bucket.stream().filter(taken -> !taken.isReleased()).toList())
                .filter(bucket -> !bucket.isEmpty())
                .toList();
        if (buckets.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        List<byte[]> names = new ArrayList<>();
        List<Charge> charges = new ArrayList<>();
        List<Map<Long, Charge>> holders = new ArrayList<>();
        for (List<PermitHolder> bucket : buckets) {
            names.add(bucket.get(0).name());
            charges.add(bucket.get(0).charge());
            Map<Long, Charge> ofThis = new TreeMap<>();
            bucket.forEach(taken -> ofThis.put(taken.holder(), taken.charge()));
            holders.add(ofThis);
        }
        long now = nanos.getAsLong();
        return redis.executeInBackground(names, codec.renewalArguments(charges, holders), redis.deadline())
                .handle((reply, thrown) -> {
                    if (thrown == null) {
                        count(buckets, reply, lostNow);
                    }
                    buckets.forEach(bucket -> bucket.forEach(taken -> {
                        if (thrown == null) {
                            taken.renew(now);
                        }
                        // The release may have come to Redis before the renewal.
                        if (taken.isReleased()) {
                            releaseAgain.accept(taken);
                        }
                    }));
                    if (thrown != null) {
                        throw Futures.wrap(thrown);
                    }
                    return null;
                });
    }

    /** Counts permits that were lost, but not those of calls that have released them while the script was under way. */
    private void count(List<List<PermitHolder>> buckets, List<Long> reply, Map<String, Long> lostNow) {
        for (int i = 0; i < buckets.size(); i++) {
            long permits = reply.get(ScriptCall.RENEW.numbers() * i + 1);
            for (PermitHolder taken : buckets.get(i)) {
                permits -= taken.isReleased() ? taken.charge().permits() : 0;
            }
            if (permits > 0) {
                lossListener.accept(permits);
                lostNow.merge("'" + buckets.get(i).get(0).charge().limit().name() + "'", permits, Long::sum);
            }
        }
    }

    /** Joins the calls of each bucket, as many as one script renews. */
    private static List<List<PermitHolder>> byBucket(List<PermitHolder> some) {
        Map<ByteBuffer, List<PermitHolder>> byName = new LinkedHashMap<>();
        for (PermitHolder taken : some) {
            byName.computeIfAbsent(ByteBuffer.wrap(taken.name()), first -> new ArrayList<>())
                    .add(taken);
        }
        List<List<PermitHolder>> buckets = new ArrayList<>();
        for (List<PermitHolder> bucket : byName.values()) {
            for (int from = 0; from < bucket.size(); from += IN_SCRIPT) {
                buckets.add(bucket.subList(from, Math.min(from + IN_SCRIPT, bucket.size())));
            }
        }
        return buckets;
    }
}
