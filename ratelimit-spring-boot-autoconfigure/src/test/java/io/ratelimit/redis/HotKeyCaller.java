package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Refill;
import io.ratelimit.TestRandom;
import io.ratelimit.store.RateLimitStore;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A process that calls one limit from many threads, and logs what it is told. It begins when the test says so, and ends
 * with the test.
 */
final class HotKeyCaller {

    private static final String KEY = "hot";

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private HotKeyCaller() {}

    /** What the process is told by its command line. */
    record Task(
            int testPort,
            String redisHost,
            int redisPort,
            String prefix,
            long seed,
            int threads,
            int callsOfEach,
            Algorithm algorithm,
            Refill refill,
            long capacity,
            String rate) {

        static Task parse(String... words) {
            return new Task(
                    Integer.parseInt(words[0]),
                    words[1],
                    Integer.parseInt(words[2]),
                    words[3],
                    Long.parseLong(words[4]),
                    Integer.parseInt(words[5]),
                    Integer.parseInt(words[6]),
                    Algorithm.valueOf(words[7]),
                    Refill.valueOf(words[8]),
                    Long.parseLong(words[9]),
                    words[10]);
        }

        List<String> words() {
            return List.of(
                            testPort,
                            redisHost,
                            redisPort,
                            prefix,
                            seed,
                            threads,
                            callsOfEach,
                            algorithm,
                            refill,
                            capacity,
                            rate)
                    .stream()
                    .map(Object::toString)
                    .toList();
        }

        Task withSeed(long other) {
            return new Task(
                    testPort,
                    redisHost,
                    redisPort,
                    prefix,
                    other,
                    threads,
                    callsOfEach,
                    algorithm,
                    refill,
                    capacity,
                    rate);
        }

        RateLimit limit() {
            return RateLimit.named("hot")
                    .algorithm(algorithm)
                    .refill(refill)
                    .capacity(capacity)
                    .rate(rate)
                    .build();
        }

        Charge charge(RateLimit limit, long permits) {
            return new Charge(limit, KEY, permits);
        }
    }

    public static void main(String[] args) throws Exception {
        Task task = Task.parse(args);
        ExecutorService threads = Executors.newFixedThreadPool(task.threads());
        LettuceConnectionFactory connections = new LettuceConnectionFactory(task.redisHost(), task.redisPort());
        connections.afterPropertiesSet();
        connections.start();
        try (Socket test = new Socket(InetAddress.getLoopbackAddress(), task.testPort());
                DataOutputStream log = new DataOutputStream(new BufferedOutputStream(test.getOutputStream()))) {
            connections.getConnection().ping();
            log.writeByte('R');
            log.flush();
            if (test.getInputStream().read() < 0) {
                return;
            }
            for (LoggedDecision decision : call(task, connections, threads)) {
                decision.write(log);
            }
        } finally {
            threads.shutdownNow();
            connections.destroy();
        }
    }

    /** What the script has decided. Every caller has been told its own decision, or there is no log. */
    private static List<LoggedDecision> call(Task task, LettuceConnectionFactory connections, ExecutorService threads)
            throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        RateLimit limit = task.limit();
        SequencedScriptExecutor executor = new SequencedScriptExecutor(connections, limit);
        RateLimitStore store = TestStores.over(executor, task.prefix());
        List<Future<List<Told>>> callers = new ArrayList<>();
        for (int i = 0; i < task.threads(); i++) {
            Random random = new Random(task.seed() + i);
            callers.add(threads.submit(() -> call(task, limit, store, random, deadline)));
        }
        List<Told> told = new ArrayList<>();
        for (Future<List<Told>> caller : callers) {
            told.addAll(caller.get());
        }
        List<LoggedDecision> log = executor.log();
        assertThat(told)
                .containsExactlyInAnyOrderElementsOf(log.stream()
                        .map(logged -> new Told(logged.permits(), logged.decision()))
                        .toList());
        assertThat(executor.runs()).as("scripts, each for several calls").isLessThan(log.size());
        return log;
    }

    /** What a caller asked for, and was told. */
    private record Told(long permits, RateLimitDecision decision) {}

    private static List<Told> call(Task task, RateLimit limit, RateLimitStore store, Random random, long deadline) {
        List<Told> told = new ArrayList<>();
        for (int i = 0; i < task.callsOfEach() && System.nanoTime() < deadline; i++) {
            long permits = permits(random, limit);
            told.add(new Told(
                    permits, store.decide(List.of(task.charge(limit, permits))).get(0)));
        }
        return told;
    }

    private static long permits(Random random, RateLimit limit) {
        return switch (random.nextInt(20)) {
            case 0 -> 0;
            case 1 -> limit.capacity() + 1;
            case 2, 3, 4 -> TestRandom.logarithmic(random, 1, limit.capacity());
            default -> 1;
        };
    }
}
