package io.ratelimit.redis;

import io.ratelimit.Charge;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
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

    private final Map<Duration, RenewalRound> rounds = new ConcurrentHashMap<>();

    private final LongAdder lost = new LongAdder();

    /** Called for a release of permits that a call waits for, perhaps one of another instance. */
    private volatile Consumer<Charge> listener = charge -> {};

    /** Creates one for a store. */
    @FunctionalInterface
    interface Factory {

        PermitHolders create(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher);
    }

    PermitHolders(GuardedRedis redis, ScriptCodec codec, CallDispatcher dispatcher) {
        this(redis, codec, dispatcher, DaemonThreads.createScheduler("ratelimit-renewal"), System::nanoTime);
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
        if (unreleased.put(releasing.place, releasing) == null && !redis.isClosed()) {
            schedule(this::releaseAgain, RETRY);
        }
    }

    /** Makes another attempt for all releases that have failed and whose permits have not expired. */
    private void releaseAgain() {
        List<Held> again = List.copyOf(unreleased.values());
        for (Held releasing : again) {
            if (unreleased.remove(releasing.place, releasing) && !releasing.hasExpired(nanos.getAsLong())) {
                var unused = send(releasing);
            }
        }
    }

    private void schedule(Runnable task, Duration delay) {
        try {
            var unused = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException ex) {
            // Closed.
        }
    }

    /** Renews the permits of all calls of limits with the same hold. */
    private final class RenewalRound {

        private final Duration hold;

        private boolean planned;

        RenewalRound(Duration hold) {
            this.hold = hold;
        }

        /** Plans the next round unless it is planned. */
        synchronized void begin() {
            if (!planned) {
                planned = true;
                schedule(this::run, hold.dividedBy(3));
            }
        }

        private void plan(Duration delay) {
            schedule(this::run, delay);
        }

        private void run() {
            List<Held> due = new ArrayList<>();
            synchronized (this) {
                for (Held taken : held.values()) {
                    if (taken.charge.limit().hold().equals(hold)) {
                        due.add(taken);
                    }
                }
                if (due.isEmpty() || redis.isClosed()) {
                    planned = false;
                    return;
                }
            }
            long begun = nanos.getAsLong();
            var unused = renew(scripts(due), 0).whenComplete((done, thrown) -> {
                long left = hold.dividedBy(3).toNanos() - (nanos.getAsLong() - begun);
                plan(thrown == null ? Duration.ofNanos(Math.max(0, left)) : least(RETRY, hold.dividedBy(3)));
            });
        }
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
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

    /** Sends one script after the other, all of them even if some fail. */
    private CompletableFuture<Void> renew(List<List<Held>> scripts, int from) {
        if (from == scripts.size()) {
            return CompletableFuture.completedFuture(null);
        }
        return Futures.start(() -> renew(scripts.get(from)))
                .<@Nullable Throwable>handle((done, thrown) -> thrown)
                .thenCompose(thrown -> renew(scripts, from + 1)
                        .thenCompose(rest -> thrown == null
                                ? CompletableFuture.<Void>completedFuture(null)
                                : CompletableFuture.failedFuture(thrown)));
    }

    private CompletableFuture<Void> renew(List<Held> some) {
        List<byte[]> names = new ArrayList<>();
        List<Charge> buckets = new ArrayList<>();
        List<Map<Long, Charge>> holders = new ArrayList<>();
        for (List<Held> ofBucket : byBucket(some)) {
            names.add(ofBucket.get(0).name);
            buckets.add(ofBucket.get(0).charge);
            Map<Long, Charge> ofThis = new TreeMap<>();
            ofBucket.forEach(taken -> ofThis.put(taken.place.holder, taken.charge));
            holders.add(ofThis);
        }
        long now = nanos.getAsLong();
        return redis.executeInBackground(names, codec.renewalArguments(buckets, holders), redis.deadline())
                .handle((reply, thrown) -> {
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
                    count(buckets, reply);
                    return null;
                });
    }

    private void count(List<Charge> buckets, List<Long> reply) {
        for (int i = 0; i < buckets.size(); i++) {
            long permits = reply.get(ScriptCall.RENEW.numbers() * i + 1);
            if (permits > 0) {
                lost.add(permits);
                logger.log(
                        Level.WARNING,
                        "Rate limit '" + buckets.get(i).limit().name() + "': " + permits
                                + " permits of running calls had expired or were lost by Redis, and are counted again; others may"
                                + " have taken them meanwhile");
            }
        }
    }

    private static Collection<List<Held>> byBucket(List<Held> some) {
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
