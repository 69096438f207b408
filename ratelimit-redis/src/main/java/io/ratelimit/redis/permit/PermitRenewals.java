package io.ratelimit.redis.permit;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.door.ScriptSeries;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Renews permits of calls that hold some, many in one script. Counts those that had expired or that Redis had lost, and ends those
 * that were reset.
 */
final class PermitRenewals {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The largest number of calls whose permits one script renews, so that it keeps no other caller of Redis waiting for long. */
    static final int IN_SCRIPT = 10_000;

    /** How many calls more a script could renew in the time that it takes for a bucket. */
    private static final int BUCKET = 9;

    /** How many scripts of renewals are under way at a time. On a cluster there is one for each slot, however far away. */
    static final int AT_A_TIME = 64;

    private final GuardedRedis redis;

    private final ScriptCodec codec;

    private final LongSupplier nanos;

    private final Consumer<PermitHold> releaseAgain;

    /** Whether the attempt before has found permits that were lost, and the log tells. */
    private volatile boolean logged;

    /** Called with the number of permits that were lost. */
    private volatile LongConsumer lossListener = permits -> {};

    /**
     * @param releaseAgain called for permits that were released during their renewal, which may have come to Redis after the release
     */
    PermitRenewals(GuardedRedis redis, ScriptCodec codec, LongSupplier nanos, Consumer<PermitHold> releaseAgain) {
        this.redis = redis;
        this.codec = codec;
        this.nanos = nanos;
        this.releaseAgain = releaseAgain;
    }

    void setLossListener(LongConsumer listener) {
        lossListener = listener;
    }

    /** Renews what is due. */
    CompletableFuture<Void> renewDue(List<PermitHold> due) {
        Map<String, Long> lost = new ConcurrentSkipListMap<>();
        return renew(due, lost).whenComplete((done, thrown) -> log(lost));
    }

    private void log(Map<String, Long> lost) {
        if (!lost.isEmpty() && !logged) {
            logger.log(
                    Level.WARNING,
                    "Permits of running calls had expired or were lost by Redis ("
                            + lost.values().stream().mapToLong(Long::longValue).sum()
                            + " of the limits " + String.join(", ", lost.keySet())
                            + "); counting them again, but others may have taken them meanwhile");
        }
        logged = !lost.isEmpty();
    }

    /** Renews some permits now. */
    CompletableFuture<Void> renew(List<PermitHold> some) {
        return renew(some, new ConcurrentSkipListMap<>());
    }

    /**
     * A script renews those of a bucket for the same time.
     *
     * @param lost gets how many permits were lost, by limit
     */
    private CompletableFuture<Void> renew(List<PermitHold> some, Map<String, Long> lost) {
        Map<Duration, List<PermitHold>> alike = some.stream()
                .collect(Collectors.groupingBy(hold -> hold.charge().limit().hold()));
        return Futures.forAll(
                alike.values(),
                holds -> Futures.start(() -> ScriptSeries.send(
                        redis.bySlot(
                                byBucket(holds),
                                bucket -> bucket.get(0).name(),
                                bucket -> BUCKET + bucket.size(),
                                IN_SCRIPT),
                        AT_A_TIME,
                        true,
                        buckets -> send(buckets, lost))));
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
                    return null;
                });
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
