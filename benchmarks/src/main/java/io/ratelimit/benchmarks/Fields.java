package io.ratelimit.benchmarks;

import io.ratelimit.Algorithm;
import io.ratelimit.benchmarks.memory.AtomicAdd;
import io.ratelimit.benchmarks.memory.BareCall;
import io.ratelimit.benchmarks.memory.Bucket4jAnnotation;
import io.ratelimit.benchmarks.memory.Bucket4jMap;
import io.ratelimit.benchmarks.memory.NoOpInterceptor;
import io.ratelimit.benchmarks.memory.OurAnnotation;
import io.ratelimit.benchmarks.memory.OurLimiter;
import io.ratelimit.benchmarks.memory.OurStore;
import io.ratelimit.benchmarks.memory.Resilience4jAnnotation;
import io.ratelimit.benchmarks.memory.Resilience4jRegistry;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Field;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.OverKeys;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.redis.BareScript;
import io.ratelimit.benchmarks.redis.Bucket4jRedis;
import io.ratelimit.benchmarks.redis.EmbeddedCluster;
import io.ratelimit.benchmarks.redis.GatewayScript;
import io.ratelimit.benchmarks.redis.OurApplication;
import io.ratelimit.benchmarks.redis.OurLimit;
import io.ratelimit.benchmarks.redis.OurLog;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.OurTwoLimits;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedissonLimiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The contestants of each scenario. */
final class Fields {

    /** Keys of the largest population. */
    private static final int MANY = 1_000_000;

    private static final String BUCKET = "bucket";

    private static final String SECOND_BUCKET = "second-bucket";

    private Fields() {}

    static Field annotated(boolean allowed) {
        List<Contestant> contestants = new ArrayList<>();
        if (allowed) {
            contestants.add(new BareCall());
        }
        contestants.add(OurAnnotation.withoutMetrics(allowed));
        contestants.add(OurAnnotation.withMetrics(allowed));
        contestants.add(new Resilience4jAnnotation(allowed));
        contestants.add(new Bucket4jAnnotation(allowed ? Quota.PLENTY : Quota.ONCE_A_DAY));
        return new Field(new NoOpInterceptor(allowed), contestants);
    }

    static Field memory() {
        return new Field(
                new AtomicAdd(),
                List.of(new OurLimiter(), new OurStore(), new Resilience4jRegistry(), new Bucket4jMap()));
    }

    static Field memoryByAlgorithm() {
        return new Field(
                new AtomicAdd(),
                List.of(
                        OurStore.of("this starter, fixed window", Algorithm.FIXED_WINDOW, Quota.PLENTY_IN_A_WINDOW),
                        OurStore.of("this starter, sliding window", Algorithm.SLIDING_WINDOW, Quota.PLENTY_IN_A_WINDOW),
                        OurStore.of("this starter, leaky bucket", Algorithm.LEAKY_BUCKET, Quota.PLENTY),
                        OurStore.of(
                                "this starter, sliding window log",
                                Algorithm.SLIDING_WINDOW_LOG,
                                Quota.PLENTY_IN_A_LOG),
                        new Resilience4jRegistry(),
                        new Bucket4jMap()));
    }

    static Field redis() {
        RedisAddress redis = RedisAddress.ofThisRun();
        OurLimit bucket = OurLimit.named(BUCKET, Quota.LASTING);
        OurLimit log = OurLimit.named("log", Quota.LASTING_LOG).algorithm(Algorithm.SLIDING_WINDOW_LOG);
        OurLimit hotLog = OurLimit.named("hot-log", Quota.HOT_LOG).algorithm(Algorithm.SLIDING_WINDOW_LOG);
        return new Field(
                new BareScript(redis, true),
                List.of(
                        ours("token bucket", redis, bucket),
                        new OurRedis(
                                "this starter, token bucket as a script",
                                OurApplication.withoutFunctions(redis, bucket),
                                BUCKET),
                        ours("fixed window", redis, limit(Algorithm.FIXED_WINDOW, Quota.LASTING_WINDOW)),
                        ours("sliding window", redis, limit(Algorithm.SLIDING_WINDOW, Quota.LASTING_WINDOW)),
                        ours("leaky bucket", redis, limit(Algorithm.LEAKY_BUCKET, Quota.LASTING)),
                        new OurLog(
                                "this starter, sliding window log",
                                OurApplication.of(redis, log, hotLog),
                                log.name(),
                                hotLog.name()),
                        OurTwoLimits.ofOneKey("this starter, two limits", twoBuckets(redis), BUCKET, SECOND_BUCKET),
                        GatewayScript.of(redis, Quota.LASTING),
                        GatewayScript.calledTwice(redis, Quota.LASTING),
                        new RedissonLimiter(redis, Quota.LASTING),
                        Bucket4jRedis.plain(redis, Quota.LASTING),
                        Bucket4jRedis.batching(redis, Quota.LASTING),
                        Bucket4jRedis.twoBandwidths(redis, Quota.LASTING, Quota.LASTING_WINDOW)));
    }

    /** Each with an application of its own: what one contestant has learnt of its calls is not the next one's. */
    private static Contestant ours(String what, RedisAddress redis, OurLimit limit) {
        return new OurRedis("this starter, " + what, OurApplication.of(redis, limit), limit.name());
    }

    /** With a name of its own: contestants of different rules must not share a bucket. */
    private static OurLimit limit(Algorithm algorithm, Quota quota) {
        String name = algorithm.name().toLowerCase(Locale.ROOT).replace('_', '-');
        return OurLimit.named(name, quota).algorithm(algorithm);
    }

    private static OurApplication twoBuckets(RedisAddress redis) {
        return OurApplication.of(
                redis, OurLimit.named(BUCKET, Quota.LASTING), OurLimit.named(SECOND_BUCKET, Quota.LASTING));
    }

    static Field rejected() {
        RedisAddress redis = RedisAddress.ofThisRun();
        OurLimit limit = OurLimit.named("once", Quota.ONCE_A_DAY);
        OurLimit asked = OurLimit.named("asked", Quota.ONCE_A_DAY);
        return new Field(
                new BareScript(redis, false),
                List.of(
                        new OurRedis("this starter", OurApplication.of(redis, limit), limit.name()),
                        new OurRedis(
                                "this starter, not remembered",
                                OurApplication.forgettingRejections(redis, asked),
                                asked.name()),
                        GatewayScript.of(redis, Quota.ONCE_A_DAY),
                        new RedissonLimiter(redis, Quota.ONCE_A_DAY),
                        Bucket4jRedis.plain(redis, Quota.ONCE_A_DAY),
                        Bucket4jRedis.batching(redis, Quota.ONCE_A_DAY)));
    }

    static Field leases() {
        RedisAddress redis = RedisAddress.ofThisRun();
        OurLimit limit = OurLimit.named("leased", Quota.FOR_LEASES).lease(100);
        return new Field(
                new BareScript(redis, true),
                List.of(
                        new OurRedis("this starter", OurApplication.of(redis, limit), limit.name()),
                        Bucket4jRedis.delaying(redis)));
    }

    static Field cluster() {
        EmbeddedCluster cluster = new EmbeddedCluster();
        RedisAddress masters = cluster.address();
        OurLimit bucket = OurLimit.named(BUCKET, Quota.LASTING);
        return new Field(
                new BareScript(masters, true),
                List.of(
                        ours("token bucket", masters, bucket),
                        ours("one server instead", RedisAddress.ofThisRun(), bucket),
                        OurTwoLimits.ofOneKey(
                                "this starter, two limits in one slot", twoBuckets(masters), BUCKET, SECOND_BUCKET),
                        OurTwoLimits.ofTwoKeys(
                                "this starter, two limits in two slots", twoBuckets(masters), BUCKET, SECOND_BUCKET),
                        GatewayScript.of(masters, Quota.LASTING),
                        GatewayScript.calledTwice(masters, Quota.LASTING),
                        new RedissonLimiter(masters, Quota.LASTING),
                        Bucket4jRedis.plain(masters, Quota.LASTING),
                        Bucket4jRedis.batching(masters, Quota.LASTING)),
                cluster);
    }

    /** Each has the same wire to Redis. */
    static Field farAway(int roundTripMillis) {
        RedisAddress redis = RedisAddress.ofThisRun().farAway(Duration.ofMillis(roundTripMillis));
        OurLimit bucket = OurLimit.named(BUCKET, Quota.LASTING);
        OurLimit leased = OurLimit.named("leased", Quota.FOR_LEASES).lease(100);
        return new Field(
                new BareScript(redis, true),
                List.of(
                        new OurRedis("this starter", OurApplication.patient(redis, bucket), bucket.name()),
                        new OurRedis(
                                "this starter, leases of 100", OurApplication.patient(redis, leased), leased.name()),
                        GatewayScript.of(redis, Quota.LASTING),
                        Bucket4jRedis.batching(redis, Quota.LASTING),
                        Bucket4jRedis.delaying(redis)));
    }

    static Field growthInMemory() {
        Keys many = new Keys(MANY);
        return new Field(
                new OverKeys("this starter, one key (floor)", new OurStore(), new Keys(1)),
                List.of(
                        new OverKeys("this starter, 1,000 keys", new OurStore(), new Keys(1_000)),
                        new OverKeys("this starter, 1,000,000 keys", new OurStore("", 2L * MANY), many),
                        new OverKeys("map, clock, atomic add over 1,000,000 keys", new AtomicAdd(), many),
                        new OverKeys("Resilience4j", new Resilience4jRegistry(), many),
                        new OverKeys("Bucket4j", new Bucket4jMap(), many)));
    }

    static Field growthInRedis() {
        RedisAddress redis = RedisAddress.ofThisRun();
        OurApplication application = OurApplication.patient(
                redis,
                OurLimit.named(BUCKET, Quota.LASTING),
                OurLimit.named("many", Quota.LASTING),
                OurLimit.named("most", Quota.LASTING));
        return new Field(
                new OverKeys("this starter, one key (floor)", new OurRedis("", application, BUCKET), new Keys(1)),
                List.of(
                        new OverKeys(
                                "this starter, 1,000 keys", new OurRedis("", application, "many"), new Keys(1_000)),
                        new OverKeys(
                                "this starter, 1,000,000 keys",
                                new OurRedis("", application, "most"),
                                new Keys(MANY))));
    }
}
