package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.concurrent.Watchdog;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * The calls of this instance that hold permits in Redis. Renews their permits every third of their {@code hold}, many in one
 * script, and releases each until Redis has done so or the permits have expired.
 */
final class PermitHolders {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The largest number of permits of calls that one script renews. */
    static final int IN_SCRIPT = 1_000;

    /** How many scripts of renewals are under way at a time. On a cluster there is one for each slot, however far away. */
    static final int AT_A_TIME = 64;

    /** Between two attempts to reach a Redis that fails. */
    private static final Duration RETRY = Duration.ofMillis(500);

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final CallDispatcher dispatcher;

    private final ScheduledExecutorService timer;

    private final LongSupplier nanos;

    private final AtomicLong numbers = new AtomicLong();

    private final Map<Place, Held> held = new ConcurrentHashMap<>();

    /** Those whose release has failed. */
    private final Map<Place, Held> unreleased = new ConcurrentHashMap<>();

    private final AtomicBoolean releasesPlanned = new AtomicBoolean();

    private final Map<Duration, RenewalRound> rounds = new ConcurrentHashMap<>();

    private final LongAdder lost = new LongAdder();

    /** Called for a release of permits that a call waits for, perhaps one of another instance. */
    private volatile Consumer<Charge> listener = charge -> {};

    /** Called with the number of permits that were lost. */
    private volatile LongConsumer lossListener = permits -> {};

    /** Creates one for a store. */
    @FunctionalInterface
    interface Factory {

        PermitHolders create(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher);
    }

    PermitHolders(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher) {
        this(redis, codec, dispatcher, DaemonThreads.createScheduler("ratelimit-renewal"), System::nanoTime);
        Watchdog.shared().watch(this, PermitHolders::resume);
    }

    /** @param nanos a clock */
    PermitHolders(
            GuardedRedis redis,
            ScriptCodec codec,
            CallDispatcher dispatcher,
            ScheduledExecutorService timer,
            LongSupplier nanos) {
        this.redis = redis;
        this.codec = codec;
        this.dispatcher = dispatcher;
        this.timer = timer;
        this.nanos = nanos;
    }

    void setListener(Consumer<Charge> listener) {
        this.listener = listener;
    }

    void setLossListener(LongConsumer listener) {
        lossListener = listener;
    }

    /** Returns the number of a new holder, which is not 0. */
    long next() {
        return numbers.incrementAndGet();
    }

    /** Returns how many permits calls held that had expired or that Redis had lost when they were renewed. */
    long lost() {
        return lost.sum();
    }

    /** Renews the permits that a call has taken from a bucket, until it releases them. */
    void hold(long holder, Charge charge, byte[] name) {
        Held taken = new Held(new Place(holder, charge.limit().id(), charge.key()), charge, name, nanos.getAsLong());
        held.put(taken.place, taken);
        rounds.computeIfAbsent(charge.limit().hold(), RenewalRound::new).begin();
    }

    /** Releases what a call without a reply may have taken. */
    void release(long holder, List<Charge> charges, List<byte[]> names) {
        for (int i = 0; i < charges.size(); i++) {
            if (!charges.get(i).limit().hasRate()) {
                var unused = release(holder, charges.get(i), names.get(i));
            }
        }
    }

    /**
     * Releases the permits that a call holds of a bucket.
     *
     * @return done when the first attempt has succeeded or failed; there are more attempts then
     */
    CompletableFuture<Void> release(long holder, Charge charge, byte[] name) {
        Place place = new Place(holder, charge.limit().id(), charge.key());
        Held known = held.remove(place);
        Held releasing = known == null ? new Held(place, charge, name, nanos.getAsLong()) : known;
        releasing.released = true;
        return send(releasing);
    }

    /** Sends a release in the order of the calls, so that the next call of the same thread finds the permits. */
    private CompletableFuture<Void> send(Held releasing) {
        PendingCall<Long> call = new PendingCall<>(
                ScriptCall.RELEASE,
                List.of(new Charge(releasing.charge.limit(), releasing.charge.key(), 0)),
                releasing.place.holder,
                List.of(releasing.name),
                redis.deadline(),
                false,
                (reply, from) -> reply.get(from + 1));
        dispatcher.dispatch(call);
        return call.outcome().handle((waiting, thrown) -> {
            if (thrown != null) {
                releaseLater(releasing);
            } else if (waiting > 0) {
                listener.accept(releasing.charge);
            }
            return null;
        });
    }

    private void releaseLater(Held releasing) {
        unreleased.put(releasing.place, releasing);
        planReleases();
    }

    private void planReleases() {
        if (!redis.isClosed() && releasesPlanned.compareAndSet(false, true)) {
            releasesPlanned.set(schedule(this::releaseAgain, RETRY.toNanos()));
        }
    }

    /** Makes another attempt for releases that have failed and whose permits have not expired: some of them at a time. */
    private void releaseAgain() {
        releasesPlanned.set(false);
        long now = nanos.getAsLong();
        int sent = 0;
        for (Held releasing : List.copyOf(unreleased.values())) {
            if (sent == IN_SCRIPT) {
                planReleases();
                return;
            }
            if (unreleased.remove(releasing.place, releasing) && !releasing.hasExpired(now)) {
                sent++;
                var unused = send(releasing);
            }
        }
    }

    /** Returns whether a thread is available for the task. Otherwise the watchdog tries again. */
    private boolean schedule(Runnable task, long delay) {
        try {
            var unused = timer.schedule(task, delay, TimeUnit.NANOSECONDS);
            return true;
        } catch (RejectedExecutionException ex) {
            // Closed.
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread is available to renew or release permits; trying again later", ex);
        }
        return false;
    }

    /** Continues rounds of renewals that have ended too early. Returns a sentence for the log if there were any. */
    @Nullable
    String resume() {
        String found = null;
        if (!redis.isClosed()) {
            for (RenewalRound round : rounds.values()) {
                found = round.resume() ? "Renewals of permits were stuck and have been resumed" : found;
            }
            if (!unreleased.isEmpty()) {
                planReleases();
            }
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
            var unused = schedule(() -> run(next), delay);
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
                List<Held> some = due(number);
                if (some != null) {
                    Renewal renewal = new Renewal(scripts(some));
                    var unused = renewal.send().whenComplete((done, thrown) -> ended(renewal, thrown != null));
                }
            } catch (Throwable ex) {
                logger.log(Level.DEBUG, "A renewal of permits failed; trying again", ex);
                ended(null, true);
            }
        }

        /** Returns the calls whose permits are to be renewed now; {@code null} if there are none any more. */
        private synchronized @Nullable List<Held> due(int number) {
            if (number != attempt) {
                return null;
            }
            long now = nanos.getAsLong();
            if (!unfinished || now - begun >= pause) {
                begun = now;
            }
            boolean any = false;
            List<Held> due = new ArrayList<>();
            for (Held taken : held.values()) {
                if (taken.charge.limit().hold().equals(hold)) {
                    any = true;
                    if (taken.renewed - begun < 0) {
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
            if (renewal != null) {
                log(renewal.lost);
            }
            long left = pause - (nanos.getAsLong() - begun);
            plan(failed ? Math.min(RETRY.toNanos(), pause) : Math.max(0, left));
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

        private final Iterator<List<Held>> scripts;

        private final CompletableFuture<Void> done = new CompletableFuture<>();

        /** How many permits were lost, by limit. */
        private final Map<String, Long> lost = new ConcurrentSkipListMap<>();

        private int underWay;

        private @Nullable Throwable failure;

        Renewal(List<List<Held>> scripts) {
            this.scripts = scripts.iterator();
        }

        CompletableFuture<Void> send() {
            for (List<Held> script = next(); script != null; script = next()) {
                List<Held> some = script;
                CompletableFuture<Void> sent = Futures.start(() -> renew(some, lost));
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

        private synchronized @Nullable List<Held> next() {
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

    /** Divides holders by slot and number. */
    private List<List<Held>> scripts(List<Held> due) {
        Map<Integer, List<Held>> bySlot = new TreeMap<>();
        boolean clustered = redis.isClustered();
        for (Held taken : due) {
            int slot = clustered ? ClusterSlotHashUtil.calculateSlot(taken.name) : 0;
            bySlot.computeIfAbsent(slot, first -> new ArrayList<>()).add(taken);
        }
        List<List<Held>> scripts = new ArrayList<>();
        for (List<Held> ofSlot : bySlot.values()) {
            for (int from = 0; from < ofSlot.size(); from += IN_SCRIPT) {
                scripts.add(ofSlot.subList(from, Math.min(from + IN_SCRIPT, ofSlot.size())));
            }
        }
        return scripts;
    }

    private CompletableFuture<Void> renew(List<Held> planned, Map<String, Long> lostNow) {
        List<Held> some = planned.stream().filter(taken -> !taken.released).toList();
        if (some.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        List<byte[]> names = new ArrayList<>();
        List<Charge> buckets = new ArrayList<>();
        List<Map<Long, Charge>> holders = new ArrayList<>();
        List<List<Held>> byBucket = byBucket(some);
        for (List<Held> ofBucket : byBucket) {
            names.add(ofBucket.get(0).name);
            buckets.add(ofBucket.get(0).charge);
            Map<Long, Charge> ofThis = new TreeMap<>();
            ofBucket.forEach(taken -> ofThis.put(taken.place.holder, taken.charge));
            holders.add(ofThis);
        }
        long now = nanos.getAsLong();
        return redis.executeInBackground(names, codec.renewalArguments(buckets, holders), redis.deadline())
                .handle((reply, thrown) -> {
                    if (thrown == null) {
                        count(byBucket, reply, lostNow);
                    }
                    for (Held taken : some) {
                        if (thrown == null) {
                            taken.renewed = now;
                        }
                        // The release may have come to Redis before the renewal.
                        if (taken.released) {
                            var unused = send(taken);
                        }
                    }
                    if (thrown != null) {
                        throw Futures.wrap(thrown);
                    }
                    return null;
                });
    }

    /** Counts permits that were lost, but not those of calls that have released them while the script was under way. */
    private void count(List<List<Held>> buckets, List<Long> reply, Map<String, Long> lostNow) {
        for (int i = 0; i < buckets.size(); i++) {
            long permits = reply.get(ScriptCall.RENEW.numbers() * i + 1);
            for (Held taken : buckets.get(i)) {
                permits -= taken.released ? taken.charge.permits() : 0;
            }
            if (permits > 0) {
                lost.add(permits);
                lossListener.accept(permits);
                lostNow.merge("'" + buckets.get(i).get(0).charge.limit().name() + "'", permits, Long::sum);
            }
        }
    }

    private static List<List<Held>> byBucket(List<Held> some) {
        Map<Integer, List<List<Held>>> byHash = new HashMap<>();
        List<List<Held>> buckets = new ArrayList<>();
        for (Held taken : some) {
            List<List<Held>> alike = byHash.computeIfAbsent(Arrays.hashCode(taken.name), first -> new ArrayList<>());
            List<Held> bucket = alike.stream()
                    .filter(known -> Arrays.equals(known.get(0).name, taken.name))
                    .findFirst()
                    .orElse(null);
            if (bucket == null) {
                bucket = new ArrayList<>();
                alike.add(bucket);
                buckets.add(bucket);
            }
            bucket.add(taken);
        }
        return buckets;
    }

    /** The permits that a call holds of one bucket. */
    private record Place(
            long holder, String limit, @Nullable String key) {}

    private static final class Held {

        private final Place place;

        private final Charge charge;

        private final byte[] name;

        /** When Redis has counted the permits last. */
        private volatile long renewed;

        private volatile boolean released;

        Held(Place place, Charge charge, byte[] name, long renewed) {
            this.place = place;
            this.charge = charge;
            this.name = name;
            this.renewed = renewed;
        }

        boolean hasExpired(long now) {
            return now - renewed > charge.limit().hold().toNanos();
        }
    }
}
