package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.statistics.RedisStatistics;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener.Outcome;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the figures of 100 instances that all call 100 limits all the time cost a real Redis. The instances' time is the test's. */
@Timeout(300)
@LongRunning
class FiguresCostTests {

    private static final int INSTANCES = 100;

    private static final int LIMITS = 100;

    /** A divisor of their number. */
    private static final int FEW = 4;

    private static final long MOST_BYTES = 1 << 20;

    private static final long MOST_IN_A_SECOND = 100;

    /** As documented: about 50. */
    private static final long MOST_ON_AVERAGE = 55;

    /** How long Redis keeps an interval. */
    private static final Duration KEPT = Duration.ofMinutes(16);

    private static final int MEASURED_SECONDS = 20;

    private static final String PREFIX = "cost";

    /** What the scripts call. */
    private static final Set<String> IN_SCRIPTS =
            Set.of("time", "hget", "hlen", "get", "set", "hset", "pexpire", "hgetall", "hdel");

    /** What this test asks. */
    private static final Set<String> ASKED = Set.of("info", "memory|usage", "keys");

    private static final Pattern STATISTIC = Pattern.compile("(?m)^cmdstat_([^:]+):calls=(\\d+)");

    private static final RateLimitDecision ALLOWED = RateLimitDecision.unlimited(1);

    private long nanos = 777;

    private final List<Charge> charges = IntStream.range(0, LIMITS)
            .mapToObj(i -> new Charge(limit("limit-" + i), "alice", 1))
            .toList();

    private static RateLimit limit(String name) {
        return TestLimits.tokenBucket(name, 10, "10/h");
    }

    @Test
    void areAtMostAHundredCommandsASecondAndAMebibyte() throws Exception {
        try (RedisServer redis = RedisServer.loadingAtOnce()) {
            RedisConnector connector =
                    new RedisConnector(redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), null);
            ScheduledExecutorService unused = DaemonThreads.createServiceScheduler("unused");
            try {
                measure(redis, new TranslatedTime(new RedisStatistics(connector, PREFIX)), unused);
            } finally {
                unused.shutdownNow();
                connector.destroy();
            }
        }
    }

    private void measure(RedisServer redis, TranslatedTime shared, ScheduledExecutorService unused) {
        List<RateLimitStatistics> instances = new ArrayList<>();
        for (int i = 0; i < INSTANCES; i++) {
            instances.add(new RateLimitStatistics(
                    10_000 + i + "@host-" + i,
                    shared,
                    () -> new InstanceState("shared", null, List.of()),
                    null,
                    new InstanceCount(),
                    () -> nanos,
                    () -> 1_795_132_800_000_000L,
                    unused));
        }
        // Connects, and loads the script.
        await().until(() -> {
            nanos += Duration.ofSeconds(1).toNanos();
            round(shared, instances.subList(0, 1));
            return shared.replied;
        });
        // All at once: these are the most in one second, because no instance knows of the others.
        assertThat(sentInASecond(redis, shared, instances)).isBetween(1L, MOST_IN_A_SECOND);
        long memory = number(redis, "memory", "used_memory");

        long intervals = KEPT.dividedBy(IntervalClock.STEP);
        for (int interval = 0; interval < intervals; interval++) {
            // Redis keeps sums and no counters of single instances: a few can count the calls of all, until the last
            // minutes.
            boolean all = interval >= intervals - 2L * InstanceStatistics.LAST_MINUTE;
            List<RateLimitStatistics> callers = all ? instances : some(instances, interval);
            callers.forEach(instance -> call(instance, INSTANCES / callers.size()));
            nanos += IntervalClock.STEP.toNanos();
            round(shared, callers);
        }
        List<Long> sent = new ArrayList<>();
        for (int second = 0; second < MEASURED_SECONDS; second++) {
            instances.forEach(instance -> call(instance, 1));
            sent.add(sentInASecond(redis, shared, instances));
        }

        assertThat(shared.accepted).isTrue();
        assertThat(sent).allMatch(each -> each <= MOST_IN_A_SECOND);
        assertThat(sent.stream().mapToLong(each -> each).sum() / MEASURED_SECONDS)
                .isBetween(1L, MOST_ON_AVERAGE);
        List<?> keys = (List<?>) redis.send("KEYS", PREFIX + ":*");
        assertThat(keys).hasSizeGreaterThanOrEqualTo((int) intervals);
        long bytes = keys.stream()
                .mapToLong(key -> (Long) redis.send("MEMORY", "USAGE", key, "SAMPLES", 0))
                .sum();
        long growth = number(redis, "memory", "used_memory") - memory;
        System.out.println("Figures of " + INSTANCES + " instances with " + LIMITS + " limits: " + bytes + " bytes in "
                + keys.size() + " keys, used_memory has grown by " + growth + "; scripts in each second: " + sent);
        assertThat(bytes).isBetween(100_000L, MOST_BYTES);
        assertThat(growth).isLessThanOrEqualTo(MOST_BYTES);
        // Figures that are not read in time are those of the instance alone.
        Figures figures =
                await().until(() -> instances.get(7).read(Duration.ofMinutes(15), null), Figures::ofAllInstances);
        assertThat(figures.lastMinute(charges.get(9).limit().id()).allowed()).isGreaterThan(INSTANCES * 20L * 12);
    }

    /** Others each time. */
    private static List<RateLimitStatistics> some(List<RateLimitStatistics> instances, int interval) {
        int first = interval * FEW % INSTANCES;
        return instances.subList(first, first + FEW);
    }

    /** Each limit is called a few times, and rejects some of the calls. */
    private void call(RateLimitStatistics instance, int times) {
        for (Charge charge : charges) {
            for (int i = 0; i < 20 * times; i++) {
                instance.listener().onDecision(charge, ALLOWED, Outcome.ALLOWED);
            }
            for (int i = 0; i < times; i++) {
                instance.listener().onDecision(charge, ALLOWED, Outcome.REJECTED);
            }
        }
    }

    private long sentInASecond(RedisServer redis, TranslatedTime shared, List<RateLimitStatistics> instances) {
        Map<String, Long> before = commands(redis);
        nanos += Duration.ofSeconds(1).toNanos();
        round(shared, instances);
        Map<String, Long> after = commands(redis);
        return after.entrySet().stream()
                .filter(each -> !IN_SCRIPTS.contains(each.getKey()) && !ASKED.contains(each.getKey()))
                .mapToLong(each -> each.getValue() - before.getOrDefault(each.getKey(), 0L))
                .sum();
    }

    private static void round(TranslatedTime shared, List<RateLimitStatistics> instances) {
        for (RateLimitStatistics instance : instances) {
            instance.round();
            shared.await();
        }
    }

    private static Map<String, Long> commands(RedisServer redis) {
        Map<String, Long> calls = new TreeMap<>();
        Matcher statistic = STATISTIC.matcher(info(redis, "commandstats"));
        while (statistic.find()) {
            calls.put(statistic.group(1), Long.valueOf(statistic.group(2)));
        }
        return calls;
    }

    private static long number(RedisServer redis, String section, String name) {
        Matcher line = Pattern.compile("(?m)^" + name + ":(\\d+)").matcher(info(redis, section));
        assertThat(line.find()).isTrue();
        return Long.parseLong(line.group(1));
    }

    private static String info(RedisServer redis, String section) {
        Object reply = redis.send("INFO", section);
        return reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
    }

    /** The script compares the instance's time with its own: passes on Redis' time, and returns the test's. */
    private static final class TranslatedTime implements SharedStatistics {

        private final SharedStatistics shared;

        private final List<CompletableFuture<?>> underWay = new ArrayList<>();

        private volatile boolean accepted = true;

        private volatile boolean replied;

        TranslatedTime(SharedStatistics shared) {
            this.shared = shared;
        }

        @Override
        public CompletionStage<Receipt> publish(Publication publication) {
            CompletableFuture<Receipt> receipt = shared.publish(new Publication(
                            publication.id(),
                            publication.instance(),
                            publication.sequence(),
                            System.currentTimeMillis() * 1_000,
                            publication.startedMicros(),
                            publication.counts()))
                    .thenApply(reply -> new Receipt(publication.nowMicros(), reply.instances(), reply.accepted()))
                    .toCompletableFuture();
            underWay.add(receipt.handle((reply, thrown) -> {
                // On a busy machine a reply may be late: then the counts are sent again.
                accepted &= thrown != null || reply.accepted();
                replied |= thrown == null;
                return null;
            }));
            return receipt;
        }

        void await() {
            underWay.forEach(CompletableFuture::join);
            underWay.clear();
        }

        @Override
        public CompletionStage<Snapshot> read(long first, long last, @Nullable String limit) {
            return shared.read(first, last, limit)
                    .thenApply(snapshot ->
                            new Snapshot(last * IntervalClock.STEP_MICROS, snapshot.instances(), snapshot.counts()));
        }

        @Override
        public CompletionStage<?> publishKeys(String instance, Map<String, KeyReport> reports) {
            return shared.publishKeys(instance, reports);
        }

        @Override
        public CompletionStage<Map<String, KeyReport>> readKeys(String limit) {
            return shared.readKeys(limit);
        }
    }
}
