package io.ratelimit.redis.permit;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.RedisFailureMapper;
import io.ratelimit.redis.door.ScriptSeries;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Renews the permits of all calls that hold some, every third of their {@code hold}, many in one script. Counts those that had
 * expired or that Redis had lost, and ends those that were reset.
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

    private final Collection<PermitHold> held;

    private final Consumer<PermitHold> releaseAgain;

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
            Collection<PermitHold> held,
            Consumer<PermitHold> releaseAgain) {
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

    /** Renews some permits now, apart from the rounds. A script renews those of a bucket for the same time. */
    CompletableFuture<Void> renew(List<PermitHold> some) {
        Map<Duration, List<PermitHold>> alike = some.stream()
                .collect(Collectors.groupingBy(hold -> hold.charge().limit().hold()));
        return Futures.forAll(alike.values(), holds -> renew(holds, new ConcurrentSkipListMap<>()));
    }

    /** @param lost gets how many permits were lost, by limit */
    private CompletableFuture<Void> renew(List<PermitHold> some, Map<String, Long> lost) {
        return Futures.start(() -> ScriptSeries.send(
                redis.bySlot(
                        byBucket(some), bucket -> bucket.get(0).name(), bucket -> BUCKET + bucket.size(), IN_SCRIPT),
                AT_A_TIME,
                true,
                buckets -> send(buckets, lost)));
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
            Map<String, Long> lost = new ConcurrentSkipListMap<>();
            try {
                List<PermitHold> some = due(number);
                if (some != null) {
                    var unused = renew(some, lost).whenComplete((done, thrown) -> ended(lost, thrown != null));
                }
            } catch (Throwable ex) {
                logger.log(Level.DEBUG, "A renewal of permits failed; trying again", ex);
                ended(lost, true);
            }
        }

        /** Returns the calls whose permits are to be renewed now; {@code null} if there are none any more. */
        private synchronized @Nullable List<PermitHold> due(int number) {
            if (number != attempt) {
                return null;
            }
            long now = nanos.getAsLong();
            if (!unfinished || now - begun >= pause) {
                begun = now;
            }
            boolean any = false;
            List<PermitHold> due = new ArrayList<>();
            for (PermitHold taken : held) {
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

        private synchronized void ended(Map<String, Long> lost, boolean failed) {
            unfinished = failed;
            try {
                log(lost);
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

    private CompletableFuture<Void> send(List<List<PermitHold>> planned, Map<String, Long> lostNow) {
        List<List<PermitHold>> buckets = planned.stream()
                .map(bucket -> bucket.stream().filter(PermitHold::isHeld).toList())
                .filter(bucket -> !bucket.isEmpty())
                .toList();
        if (buckets.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        long now = nanos.getAsLong();
        return redis.executeInBackground(
                        buckets.stream().map(bucket -> bucket.get(0).name()).toList(),
                        codec.renewalArguments(buckets),
                        redis.deadline())
                .handle((reply, thrown) -> {
                    // The renewal may have come to Redis after the release.
                    buckets.forEach(bucket ->
                            bucket.stream().filter(hold -> !hold.isHeld()).forEach(releaseAgain));
                    if (thrown != null) {
                        throw Futures.wrap(thrown);
                    }
                    count(buckets, reply, now, lostNow);
                    return (Void) null;
                })
                // A slot is moving, or an ACL forbids one of the keys.
                .exceptionallyCompose(thrown -> buckets.size() > 1 && RedisFailureMapper.isOfSomeKeys(thrown)
                        ? ScriptSeries.send(buckets, AT_A_TIME, true, bucket -> send(List.of(bucket), lostNow))
                        : CompletableFuture.failedFuture(thrown));
    }

    /** Counts permits that were lost, but not those of calls that have ended while the script was under way. */
    private void count(List<List<PermitHold>> buckets, List<Long> reply, long now, Map<String, Long> lostNow) {
        int at = 0;
        for (List<PermitHold> bucket : buckets) {
            long lost = reply.get(at + 1);
            for (PermitHold hold : bucket) {
                lost -= hold.isHeld() ? 0 : hold.charge().permits();
                hold.renew(now);
            }
            if (lost > 0) {
                lossListener.accept(lost);
                lostNow.merge("'" + bucket.get(0).charge().limit().name() + "'", lost, Long::sum);
            }
            long reset = reply.get(at + 2);
            at += ScriptCall.RENEW.numbers();
            for (; reset > 0; reset--) {
                var unused = bucket.get(reply.get(at++).intValue()).end();
            }
        }
    }

    /** Joins the calls of each bucket, as many as one script renews. */
    private static List<List<PermitHold>> byBucket(List<PermitHold> some) {
        Map<ByteBuffer, List<PermitHold>> byName = some.stream()
                .collect(Collectors.groupingBy(
                        hold -> ByteBuffer.wrap(hold.name()), LinkedHashMap::new, Collectors.toList()));
        List<List<PermitHold>> buckets = new ArrayList<>();
        for (List<PermitHold> bucket : byName.values()) {
            for (int from = 0; from < bucket.size(); from += IN_SCRIPT) {
                buckets.add(bucket.subList(from, Math.min(from + IN_SCRIPT, bucket.size())));
            }
        }
        return buckets;
    }
}
