package io.ratelimit.benchmarks;

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
import io.ratelimit.benchmarks.redis.GatewayScript;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedissonLimiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The contestants of each line. */
final class Fields {

    private static final int MANY = Integer.getInteger("benchmark.keys", 1_000_000);

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

    static Field redis(Quota quota) {
        RedisAddress redis = RedisAddress.ofThisRun();
        return new Field(
                new BareScript(redis, true),
                List.of(
                        OurRedis.withDefaults(redis, quota),
                        new GatewayScript(redis, quota),
                        new RedissonLimiter(redis, quota),
                        Bucket4jRedis.plain(redis, quota),
                        Bucket4jRedis.batching(redis, quota)));
    }

    /** Each has the same wire to Redis. */
    static Field redisFarAway() {
        RedisAddress redis = RedisAddress.ofThisRun().farAway(Duration.ofMillis(20));
        return new Field(
                new BareScript(redis, true),
                List.of(OurRedis.withDefaults(redis, Quota.LASTING), new GatewayScript(redis, Quota.LASTING)));
    }

    static Field rejected() {
        RedisAddress redis = RedisAddress.ofThisRun();
        List<Contestant> contestants = new ArrayList<>();
        contestants.add(OurRedis.withDefaults(redis, Quota.ONCE_A_DAY));
        OurRedis.forgettingRejections(redis).ifPresent(contestants::add);
        contestants.add(new GatewayScript(redis, Quota.ONCE_A_DAY));
        contestants.add(new RedissonLimiter(redis, Quota.ONCE_A_DAY));
        contestants.add(Bucket4jRedis.plain(redis, Quota.ONCE_A_DAY));
        contestants.add(Bucket4jRedis.batching(redis, Quota.ONCE_A_DAY));
        return new Field(new BareScript(redis, false), contestants);
    }

    static Field leases() {
        RedisAddress redis = RedisAddress.ofThisRun();
        List<Contestant> contestants = new ArrayList<>();
        OurRedis.leasing(redis).ifPresent(contestants::add);
        contestants.add(Bucket4jRedis.delaying(redis));
        return new Field(new BareScript(redis, true), contestants);
    }

    static Field growthInMemory() {
        return new Field(
                inMemory("over 1 key (floor)", 1), List.of(inMemory("over 1,000 keys", 1_000), inMemory(many(), MANY)));
    }

    static Field growthInRedis() {
        return new Field(
                inRedis("over 1 key (floor)", 1), List.of(inRedis("over 1,000 keys", 1_000), inRedis(many(), MANY)));
    }

    private static String many() {
        return String.format("over %,d keys", MANY);
    }

    private static Contestant inMemory(String name, int count) {
        Keys keys = new Keys(count);
        OurStore store = new OurStore(name, 2L * MANY);
        store.touch(keys.all());
        return new OverKeys(store, keys);
    }

    private static Contestant inRedis(String name, int count) {
        Keys keys = new Keys(count);
        OurRedis redis = OurRedis.named(name, RedisAddress.ofThisRun(), Quota.LASTING);
        redis.touch(keys.all());
        return new OverKeys(redis, keys);
    }
}
