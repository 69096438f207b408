package io.ratelimit.redis;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * An instance of an application in a JVM of its own, which may be killed at any time. Its calls hold permits of one bucket, and
 * meanwhile are part of a count in Redis that the limiter has nothing to do with.
 */
final class HoldingProcess {

    static final int CAPACITY = 5;

    /** The field with the number of processes that wait until they may begin. */
    static final String READY = "ready";

    /** Ends the name of the list from which each process takes an element before it begins. */
    static final String BEGIN = " begin";

    /** A call begins or ends. A process that is known to be dead counts no more, even if its last command comes late. */
    private static final RedisScript<Long> WORK = RedisScript.of("""
            local count, name, change = KEYS[1], ARGV[1], tonumber(ARGV[2])
            local calls = tonumber(redis.call('HGET', count, 'calls') or 0)
            if redis.call('HEXISTS', count, 'work:' .. name) == 0 then return calls end
            redis.call('HINCRBY', count, 'work:' .. name, change)
            redis.call('HSET', count, 'lost:' .. name, ARGV[3])
            if change < 0 then return calls end
            local fields, sum = redis.call('HGETALL', count), 0
            for i = 1, #fields, 2 do
              if string.sub(fields[i], 1, 5) == 'work:' then sum = sum + fields[i + 1] end
            end
            if sum > tonumber(redis.call('HGET', count, 'most') or 0) then redis.call('HSET', count, 'most', sum) end
            return redis.call('HINCRBY', count, 'calls', 1)
            """, Long.class);

    private HoldingProcess() {}

    /**
     * Calls until all processes together have made that many calls.
     *
     * @param args host, port, key prefix, name, threads, calls of all processes together, and the hold
     */
    public static void main(String[] args) throws Exception {
        endWithTheTest();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of(
                            "ratelimit.redis.key-prefix=" + args[2],
                            "ratelimit.redis.timeout=10s",
                            "ratelimit.on-store-failure=throw",
                            "ratelimit.limits.exports.algorithm=concurrency",
                            "ratelimit.limits.exports.capacity=" + CAPACITY,
                            "ratelimit.limits.exports.max-wait=5m",
                            "ratelimit.limits.exports.hold=" + args[6])
                    .applyTo(context);
            context.registerBean(
                    LettuceConnectionFactory.class,
                    () -> new LettuceConnectionFactory(args[0], Integer.parseInt(args[1])));
            context.registerBean(SimpleMeterRegistry.class);
            context.register(RateLimitAutoConfiguration.class);
            context.refresh();
            work(context, args[2], args[3], Integer.parseInt(args[4]), Long.parseLong(args[5]));
        }
        System.exit(0);
    }

    private static void endWithTheTest() {
        Thread thread = new Thread(() -> {
            try {
                System.in.read();
            } catch (IOException ex) {
                // The test has ended, too.
            }
            Runtime.getRuntime().halt(1);
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static void work(
            AnnotationConfigApplicationContext context, String prefix, String name, int threads, long calls)
            throws Exception {
        StringRedisTemplate redis = new StringRedisTemplate(context.getBean(LettuceConnectionFactory.class));
        MeterRegistry meters = context.getBean(MeterRegistry.class);
        RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("exports");
        Callable<Void> caller = () -> {
            long done = 0;
            while (done < calls) {
                done = limiter.call("alice", () -> {
                    Long begun = count(redis, prefix, name, 1, meters);
                    count(redis, prefix, name, -1, meters);
                    return begun;
                });
            }
            return null;
        };
        redis.opsForHash().increment(prefix + " count", READY, 1);
        if (redis.opsForList().leftPop(prefix + BEGIN, Duration.ofSeconds(50)) == null) {
            throw new IllegalStateException("The test does not let it begin");
        }
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        List<Future<Void>> callers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            callers.add(executor.submit(caller));
        }
        for (Future<Void> each : callers) {
            each.get();
        }
        executor.shutdown();
    }

    private static Long count(StringRedisTemplate redis, String prefix, String name, int change, MeterRegistry meters) {
        long lost = (long) meters.get("ratelimit.concurrency.lost").counter().count();
        return redis.execute(WORK, List.of(prefix + " count"), name, "" + change, "" + lost);
    }
}
