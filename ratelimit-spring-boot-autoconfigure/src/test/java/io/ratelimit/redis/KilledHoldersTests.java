package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.SharedRedis;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.core.HashOperations;

/**
 * Instances in JVMs of their own share the permits of one bucket, and some of them are killed while they hold some. The nightly
 * build makes a million calls and kills 20 instances.
 */
@LongRunning
class KilledHoldersTests {

    private static final boolean FULL = TestRandom.cases(100) == 100;

    private static final int PROCESSES = FULL ? 4 : 2;

    private static final int THREADS = 8;

    private static final Duration HOLD = Duration.ofSeconds(2);

    private static final Duration PATIENCE = Duration.ofMinutes(20);

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final Random random = TestRandom.create(getClass());

    private final String prefix = RedisUnderTest.newPrefix();

    private final String count = prefix + " count";

    private final long calls = FULL ? 1_000_000 : 2_000;

    private final int kills = FULL ? 20 : 1;

    private final List<Instance> running = new ArrayList<>();

    private int started;

    @TempDir
    private Path logs;

    private record Instance(String name, Process process, Path log) {}

    @AfterEach
    void stop() {
        running.forEach(instance -> instance.process.destroyForcibly());
    }

    @Test
    void permitsAreHeldOnceAndComeBackWhenInstancesAreKilled() throws Exception {
        for (int i = 0; i < PROCESSES; i++) {
            start();
        }
        // From the first call on, they compete.
        await().atMost(PATIENCE).until(() -> field(HoldingProcess.READY) == PROCESSES);
        letBegin(PROCESSES);
        long heldByTheDead = 0;
        for (int kill = 1; kill <= kills; kill++) {
            awaitCalls(calls * kill / (kills + 1));
            heldByTheDead += kill();
            if (FULL) {
                start();
                letBegin(1);
            }
        }
        awaitCalls(calls);
        for (Instance instance : running) {
            assertThat(instance.process.waitFor()).as(() -> log(instance)).isZero();
        }
        System.out.println("KilledHoldersTests: " + field("calls") + " calls, at most " + field("most") + " at once, "
                + kills + " instances killed that held " + heldByTheDead + " permits, " + lost() + " permits lost");
        // A process that stands still for longer than the hold counts as dead.
        assertThat(field("most")).isBetween(2L, HoldingProcess.CAPACITY + lost());
        await().atMost(HOLD.multipliedBy(5))
                .untilAsserted(() ->
                        assertThat(redis.commands().keys(prefix + ":{*%held")).isEmpty());
    }

    private void start() throws IOException {
        String name = "instance-" + started++;
        hash().put(count, "work:" + name, "0");
        Path log = logs.resolve(name);
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HoldingProcess.class.getName(),
                        SharedRedis.get().host(),
                        "" + SharedRedis.get().port(),
                        prefix,
                        name,
                        "" + THREADS,
                        "" + calls,
                        HOLD.toSeconds() + "s"))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        running.add(new Instance(name, process, log));
    }

    private void letBegin(int instances) {
        for (int i = 0; i < instances; i++) {
            redis.commands().opsForList().rightPush(prefix + HoldingProcess.BEGIN, "1");
        }
    }

    /** Kills an instance while it holds permits, and returns how many of its calls were under way. */
    private long kill() throws Exception {
        Instance victim = running.get(random.nextInt(running.size()));
        signal(victim, "STOP");
        for (int i = 0; i < 1_000 && field("work:" + victim.name) == 0; i++) {
            signal(victim, "CONT");
            signal(victim, "STOP");
        }
        running.remove(victim);
        victim.process.destroyForcibly().waitFor();
        long underWay = field("work:" + victim.name);
        hash().delete(count, "work:" + victim.name);
        return underWay;
    }

    private static void signal(Instance instance, String name) throws Exception {
        new ProcessBuilder("kill", "-" + name, "" + instance.process.pid())
                .inheritIO()
                .start()
                .waitFor();
    }

    private void awaitCalls(long number) {
        await().atMost(PATIENCE).until(() -> {
            for (Instance instance : running) {
                boolean ended = !instance.process.isAlive() && field("calls") < calls;
                assertThat(ended).as(() -> log(instance)).isFalse();
            }
            return field("calls") >= number;
        });
    }

    private long field(String name) {
        String value = hash().get(count, name);
        return value == null ? 0 : Long.parseLong(value);
    }

    private long lost() {
        return hash().entries(count).entrySet().stream()
                .filter(entry -> entry.getKey().startsWith("lost:"))
                .mapToLong(entry -> Long.parseLong(entry.getValue()))
                .sum();
    }

    private HashOperations<String, String, String> hash() {
        return redis.commands().opsForHash();
    }

    private static String log(Instance instance) {
        try {
            return Files.readString(instance.log);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
