package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.Refill;
import io.ratelimit.redis.HotKeyCaller.Task;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import io.ratelimit.testing.reference.ReferenceStore;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One hot key, called from the threads of several processes, by the server's own time. Every decision is logged with the
 * time and the number of its run, and the log is replayed in rational arithmetic.
 */
@Timeout(300)
@LongRunning
class HotKeyReplayTests {

    private static final int ATTEMPTS = 4;

    private static final int PROCESSES = 3;

    private static final int THREADS = 8;

    private static final int CALLS_OF_EACH = Math.max(120, TestRandom.cases(250));

    private static final int PATIENCE_MILLIS = 120_000;

    private static final List<Process> processes = new ArrayList<>();

    private static final List<Socket> sockets = new ArrayList<>();

    @TempDir
    private static Path directory;

    private final Random random = TestRandom.create(getClass());

    @BeforeAll
    static void startProcesses() throws IOException {
        try (ServerSocket meetingPoint = new ServerSocket(0, PROCESSES, InetAddress.getLoopbackAddress())) {
            meetingPoint.setSoTimeout(PATIENCE_MILLIS);
            for (int i = 0; i < PROCESSES; i++) {
                processes.add(start(meetingPoint.getLocalPort(), i));
            }
            for (int i = 0; i < PROCESSES; i++) {
                Socket socket = meetingPoint.accept();
                socket.setSoTimeout(PATIENCE_MILLIS);
                sockets.add(socket);
            }
        } catch (IOException ex) {
            throw new IllegalStateException(said(), ex);
        }
    }

    @AfterAll
    static void endProcesses() throws Exception {
        try {
            for (Socket socket : sockets) {
                socket.close();
            }
            for (Process process : processes) {
                assertThat(process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS))
                        .isTrue();
                assertThat(process.exitValue()).as(HotKeyReplayTests::said).isZero();
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "TOKEN_BUCKET, CONTINUOUS, 50, 1999/s", //
        "TOKEN_BUCKET, INTERVAL, 50, 19/10ms",
        "LEAKY_BUCKET, CONTINUOUS, 50, 1999/s",
        "FIXED_WINDOW, CONTINUOUS, 50, 1999/s",
        "SLIDING_WINDOW, CONTINUOUS, 50, 50/25ms",
        "SLIDING_WINDOW_LOG, CONTINUOUS, 50, 1999/s",
    })
    void everyDecisionIsTheOneOfRationalArithmetic(Algorithm algorithm, Refill refill, long capacity, String rate)
            throws Exception {
        for (int attempt = 1; !isShown(algorithm, refill, capacity, rate); attempt++) {
            assertThat(attempt).as("the server's clock goes back in every run").isLessThan(ATTEMPTS);
        }
    }

    /** @return false if the server's clock went back, which cannot be replayed */
    private boolean isShown(Algorithm algorithm, Refill refill, long capacity, String rate) throws IOException {
        Task task = new Task(
                RedisUnderTest.newPrefix(),
                random.nextLong(),
                THREADS,
                CALLS_OF_EACH,
                algorithm,
                refill,
                capacity,
                rate);
        List<LoggedDecision> log = run(task);
        log.sort(Comparator.comparingLong(LoggedDecision::number));
        checkNumbers(log);
        if (!isInOrderOfTime(log)) {
            System.out.println("The server's clock went back during the run: again");
            return false;
        }
        replay(log, task);
        checkAdmitted(log, task.limit());
        return true;
    }

    private static List<LoggedDecision> run(Task task) {
        List<LoggedDecision> log = new ArrayList<>();
        try {
            List<DataInputStream> logs = new ArrayList<>();
            for (int i = 0; i < PROCESSES; i++) {
                Socket socket = sockets.get(i);
                logs.add(new DataInputStream(new BufferedInputStream(socket.getInputStream())));
                task.withSeed(task.seed() + (long) i * THREADS).write(new DataOutputStream(socket.getOutputStream()));
            }
            for (DataInputStream ready : logs) {
                assertThat(ready.readByte()).isEqualTo((byte) 'R');
            }
            for (Socket socket : sockets) {
                socket.getOutputStream().write('G');
            }
            for (DataInputStream one : logs) {
                LoggedDecision.readAll(one, log);
            }
            return log;
        } catch (IOException ex) {
            throw new IllegalStateException(said(), ex);
        }
    }

    private static Process start(int testPort, int number) throws IOException {
        SharedRedis redis = SharedRedis.get();
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HotKeyCaller.class.getName(),
                        Integer.toString(testPort),
                        redis.host(),
                        Integer.toString(redis.port()))
                .redirectErrorStream(true)
                .redirectOutput(output(number).toFile())
                .start();
    }

    private static Path output(int process) {
        return directory.resolve("process" + process + ".log");
    }

    private static String said() {
        StringBuilder said = new StringBuilder("The processes said:");
        for (int i = 0; i < PROCESSES; i++) {
            try {
                said.append('\n').append(Files.readString(output(i)));
            } catch (IOException ex) {
                said.append('\n').append(ex);
            }
        }
        return said.toString();
    }

    /** All of them, each once. */
    private static void checkNumbers(List<LoggedDecision> log) {
        assertThat(log).hasSizeGreaterThan(1_000);
        for (int i = 0; i < log.size(); i++) {
            assertThat(log.get(i).number()).isEqualTo(i + 1);
        }
    }

    private static boolean isInOrderOfTime(List<LoggedDecision> log) {
        long before = 0;
        for (LoggedDecision logged : log) {
            if (logged.micros() < before) {
                return false;
            }
            before = logged.micros();
        }
        return true;
    }

    private static void replay(List<LoggedDecision> log, Task task) {
        RateLimit limit = task.limit();
        TestClock clock = new TestClock();
        ReferenceStore reference = new ReferenceStore(clock);
        for (LoggedDecision logged : log) {
            clock.set(logged.micros());
            RateLimitDecision expected = reference
                    .decide(task.charge(limit, logged.permits()))
                    .await()
                    .decision();
            assertThat(logged.decision())
                    .as(() -> "%s, with seed %d: %s of %d"
                            .formatted(limit, task.seed(), logged, log.get(0).micros()))
                    .isEqualTo(expected);
        }
    }

    /** Of every algorithm: no more than the capacity at once and the rate since the first call that took something. */
    private static void checkAdmitted(List<LoggedDecision> log, RateLimit limit) {
        long first = -1;
        long permits = 0;
        int allowed = 0;
        for (LoggedDecision logged : log) {
            if (logged.decision().allowed()) {
                allowed++;
                permits += logged.permits();
                first = first < 0 && permits > 0 ? logged.micros() : first;
            }
            if (permits > 0) {
                long since = logged.micros() - first;
                assertThat(permits)
                        .isLessThanOrEqualTo(limit.capacity()
                                + since
                                        * limit.numbers().reducedRate().permits()
                                        / limit.numbers().reducedRate().micros());
            }
        }
        int rejected = log.size() - allowed;
        System.out.printf(
                "HotKeyReplayTests, %s: %d allowed, %d rejected, %d permits in %d ms%n",
                limit, allowed, rejected, permits, (log.get(log.size() - 1).micros() - first) / 1_000);
        assertThat(Math.min(allowed, rejected)).isGreaterThan(100);
    }
}
