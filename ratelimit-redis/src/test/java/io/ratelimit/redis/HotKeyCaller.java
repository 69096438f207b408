package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Refill;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.StartedConnections;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
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
 * A process that calls limits from many threads, one after the other, and logs what it is told. It begins each when the
 * test says so, and ends with the test.
 */
final class HotKeyCaller {

    private static final String KEY = "hot";

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private HotKeyCaller() {}

    /** What the process is told by the test. */
    record Task(
            String prefix,
            long seed,
            int threads,
            int callsOfEach,
            Algorithm algorithm,
            Refill refill,
            long capacity,
            String rate) {

        /** Returns the next task, or {@code null} if there is none. */
        static Task read(DataInputStream in) throws IOException {
            try {
                return new Task(
                        in.readUTF(),
                        in.readLong(),
                        in.readInt(),
                        in.readInt(),
                        Algorithm.valueOf(in.readUTF()),
                        Refill.valueOf(in.readUTF()),
                        in.readLong(),
                        in.readUTF());
            } catch (EOFException ex) {
                return null;
            }
        }

        void write(DataOutputStream out) throws IOException {
            out.writeUTF(prefix);
            out.writeLong(seed);
            out.writeInt(threads);
            out.writeInt(callsOfEach);
            out.writeUTF(algorithm.name());
            out.writeUTF(refill.name());
            out.writeLong(capacity);
            out.writeUTF(rate);
            out.flush();
        }

        Task withSeed(long other) {
            return new Task(prefix, other, threads, callsOfEach, algorithm, refill, capacity, rate);
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

    /**
     * Does one task of the test after the other.
     *
     * @param args the port of the test, and the host and the port of Redis
     */
    public static void main(String... args) throws Exception {
        LettuceConnectionFactory connections = StartedConnections.to(args[1], Integer.parseInt(args[2]));
        try (Socket test = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
                DataInputStream tasks = new DataInputStream(test.getInputStream());
                DataOutputStream log = new DataOutputStream(new BufferedOutputStream(test.getOutputStream()))) {
            connections.getConnection().ping();
            for (Task task = Task.read(tasks); task != null; task = Task.read(tasks)) {
                log.writeByte('R');
                log.flush();
                tasks.readByte();
                LoggedDecision.writeAll(call(task, connections), log);
            }
        } finally {
            connections.destroy();
        }
    }

    private static List<LoggedDecision> call(Task task, LettuceConnectionFactory connections) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(task.threads());
        try {
            return call(task, connections, threads);
        } finally {
            threads.shutdownNow();
        }
    }

    /** What the script has decided. Every caller has been told its own decision, or there is no log. */
    private static List<LoggedDecision> call(Task task, LettuceConnectionFactory connections, ExecutorService threads)
            throws Exception {
        RateLimit limit = task.limit();
        SequencedScriptExecutor executor = new SequencedScriptExecutor(connections, limit);
        RateLimitStore store = TestStores.over(executor, task.prefix());
        // Not earlier: on a busy machine the first store of a JVM takes seconds.
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        List<Future<List<Report>>> callers = new ArrayList<>();
        for (int i = 0; i < task.threads(); i++) {
            Random random = new Random(task.seed() + i);
            callers.add(threads.submit(() -> call(task, limit, store, random, deadline)));
        }
        List<Report> told = new ArrayList<>();
        for (Future<List<Report>> caller : callers) {
            told.addAll(caller.get());
        }
        List<LoggedDecision> log = executor.log();
        assertThat(told)
                .containsExactlyInAnyOrderElementsOf(log.stream()
                        .map(logged -> new Report(logged.permits(), logged.decision()))
                        .toList());
        assertThat(executor.runs()).as("scripts, each for several calls").isLessThan(log.size());
        return log;
    }

    /** What a caller asked for, and was told. */
    private record Report(long permits, RateLimitDecision decision) {}

    private static List<Report> call(Task task, RateLimit limit, RateLimitStore store, Random random, long deadline) {
        List<Report> told = new ArrayList<>();
        for (int i = 0; i < task.callsOfEach() && System.nanoTime() < deadline; i++) {
            long permits = permits(random, limit);
            told.add(new Report(
                    permits,
                    store.decide(StoreRequest.of(List.of(task.charge(limit, permits))))
                            .await()
                            .decision()));
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
