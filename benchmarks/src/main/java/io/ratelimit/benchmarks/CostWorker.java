package io.ratelimit.benchmarks;

import io.ratelimit.benchmarks.race.AllocatedBytes;
import io.ratelimit.benchmarks.race.Contestant;
import io.ratelimit.benchmarks.race.Keys;
import io.ratelimit.benchmarks.race.Quota;
import io.ratelimit.benchmarks.redis.Bucket4jRedis;
import io.ratelimit.benchmarks.redis.GatewayScript;
import io.ratelimit.benchmarks.redis.OurApplication;
import io.ratelimit.benchmarks.redis.OurLimit;
import io.ratelimit.benchmarks.redis.OurRedis;
import io.ratelimit.benchmarks.redis.RedisAddress;
import io.ratelimit.benchmarks.redis.RedissonLimiter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.Blackhole;

/**
 * A process of {@link CostBenchmark} that makes calls by one library. Each line of its input asks for a turn: the number of
 * callers, of calls a second (0: as many as possible) and of milliseconds. It answers with calls and allocated bytes.
 */
final class CostWorker {

    /** In the order of the table. */
    static final List<String> LIBRARIES = List.of("this starter", "Gateway's script", "Redisson", "Bucket4j");

    /** Begins each line of the output that is no message of a library. */
    static final String ANSWER = "answer: ";

    private static final int MOST_CALLERS = 400;

    private final String[] users = new Keys(10_000).all();

    /** Threads stay, because the kernel forgets the processor time of those that end. */
    private final ExecutorService callers = Executors.newFixedThreadPool(MOST_CALLERS);

    private final Contestant contestant;

    private final Blackhole sink;

    private CostWorker(Contestant contestant, Blackhole sink) {
        this.contestant = contestant;
        this.sink = sink;
    }

    /**
     * Makes calls until the input ends.
     *
     * @param args the index of the library, and the password that JMH asks of those that create a {@link Blackhole}
     */
    public static void main(String[] args) {
        Blackhole sink = new Blackhole(args[1]);
        CostWorker worker = new CostWorker(contestant(Integer.parseInt(args[0]), RedisAddress.ofThisRun()), sink);
        worker.contestant.touch(worker.users, sink);
        System.out.println(ANSWER);
        Scanner input = new Scanner(System.in, StandardCharsets.US_ASCII);
        while (input.hasNext()) {
            long allocated = AllocatedBytes.now();
            long calls = worker.turn(input.nextInt(), input.nextInt(), input.nextInt());
            System.out.println(ANSWER + calls + " " + (AllocatedBytes.now() - allocated));
        }
    }

    private static Contestant contestant(int library, RedisAddress redis) {
        OurLimit limit = OurLimit.named("bucket", Quota.LASTING);
        return switch (library) {
            case 0 -> new OurRedis("this starter", OurApplication.patient(redis, limit), limit.name());
            case 1 -> GatewayScript.of(redis, Quota.LASTING);
            case 2 -> new RedissonLimiter(redis, Quota.LASTING);
            default -> Bucket4jRedis.plain(redis, Quota.LASTING);
        };
    }

    private long turn(int threads, int perSecond, int millis) {
        LongAdder calls = new LongAdder();
        long pause = perSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(threads) / perSecond;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        CompletableFuture.allOf(Stream.generate(
                                () -> CompletableFuture.runAsync(() -> call(end, pause, calls), callers))
                        .limit(threads)
                        .toArray(CompletableFuture<?>[]::new))
                .join();
        return calls.sum();
    }

    /** Makes one call after the other, each a pause after the last was due, or at once if that has passed. */
    private void call(long end, long pause, LongAdder calls) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long due = System.nanoTime() + random.nextLong(pause + 1);
        for (long now = System.nanoTime(); now - end < 0; now = System.nanoTime()) {
            if (pause > 0 && now - due < 0) {
                LockSupport.parkNanos(due - now);
                continue;
            }
            if (!contestant.call(users[random.nextInt(users.length)], sink)) {
                throw new IllegalStateException(contestant.name() + " has rejected a call");
            }
            calls.increment();
            due += pause;
        }
    }
}
