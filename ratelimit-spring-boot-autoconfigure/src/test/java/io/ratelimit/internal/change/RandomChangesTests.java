package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.testing.ChildJvm;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.redis.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three instances under load, in JVMs of their own. Their limits change at random between three capacities, while Redis is killed
 * and started again. The nightly build makes a thousand changes.
 *
 * <p>A bucket to which nothing comes back admits no more than the largest capacity, and all of that. In any stretch of time, a window
 * admits no more than the model of the largest limit does.
 */
@Timeout(900)
@LongRunning
class RandomChangesTests {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final long LARGEST = 20;

    private static final List<Long> CAPACITIES = List.of(5L, ChangingProcess.CAPACITY, LARGEST);

    private static final long WINDOW =
            Duration.ofSeconds(ChangingProcess.WINDOW_SECONDS).toNanos();

    private final Random random = TestRandom.create(RandomChangesTests.class);

    private final int changes = TestRandom.cases(1_000);

    private final int kills = Math.max(2, changes / 100);

    private final RedisServer redis = RedisServer.loadingAtOnce();

    private final List<ChildJvm> instances = new ArrayList<>();

    @TempDir
    private Path logs;

    /** An admitted call: it was decided between its beginning and its end. */
    private record Admission(long begin, long end) {}

    @AfterEach
    void stop() {
        instances.forEach(ChildJvm::close);
        redis.close();
    }

    @Test
    void allAgreeAndNoneAdmitsMoreThanTheLargestLimit() throws IOException {
        for (int i = 0; i < 3; i++) {
            instances.add(ChildJvm.start(
                    ChangingProcess.class, logs.resolve("" + i), List.of(), "" + redis.port(), "" + random.nextLong()));
        }
        instances.forEach(instance -> assertThat(instance.ask("begin")).isEqualTo("begun"));
        int made = changeAtRandom();
        long start = System.nanoTime();
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .untilAsserted(() -> assertThat(instances)
                        .extracting(instance -> instance.ask("effective"))
                        .containsOnly(instances.get(0).ask("effective")));
        long agreed = System.nanoTime() - start;
        long calls = instances.stream()
                .mapToLong(instance -> Long.parseLong(instance.ask("end")))
                .sum();
        String checked;
        try (OverriddenInstance later = ChangingProcess.start(redis.port())) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(ChangingProcess.effective(later))
                            .isEqualTo(instances.get(0).ask("effective")));
            for (String limit : ChangingProcess.ENDLESS) {
                await().atMost(PATIENCE)
                        .until(() ->
                                ChangingProcess.change(later, limit, LARGEST).equals("changed"));
                for (int key = 0; key < ChangingProcess.KEYS; key++) {
                    assertUsedUp(later, limit, "key" + key);
                }
            }
            checked = assertWindows();
        }
        System.out.println("RandomChangesTests: " + made + " of " + (changes + kills) + " changes made, " + calls
                + " calls, Redis killed " + kills + " times, all agreed after " + agreed / 1_000_000 + " ms; "
                + checked);
    }

    private int changeAtRandom() {
        int made = 0;
        int killed = 0;
        for (int i = 1; i <= changes; i++) {
            // An instance that has not noticed yet that Redis is back refuses to change.
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> change() == 1);
            made++;
            if (i * (kills + 1) / changes > killed && killed < kills) {
                killed++;
                redis.kill();
                made += change();
                redis.restart();
            }
        }
        return made;
    }

    private int change() {
        List<String> limits = ChangingProcess.limits().toList();
        String answer = instances
                .get(random.nextInt(instances.size()))
                .ask("change " + limits.get(random.nextInt(limits.size())) + " "
                        + CAPACITIES.get(random.nextInt(CAPACITIES.size())));
        return answer.equals("changed") ? 1 : 0;
    }

    private String[] counts(ChildJvm instance, String limit, String key) {
        return instance.ask("bucket " + limit + " " + key).split(" ", -1);
    }

    /** The rest is still there, and no more. */
    private void assertUsedUp(OverriddenInstance later, String limit, String key) {
        long admitted = 0;
        long unknown = 0;
        for (ChildJvm instance : instances) {
            String[] counts = counts(instance, limit, key);
            admitted += Long.parseLong(counts[0]);
            unknown += Long.parseLong(counts[1]);
        }
        boolean more = true;
        while (more) {
            try {
                more = later.limiter(limit).tryAcquire(key).allowed();
                admitted += more ? 1 : 0;
            } catch (RateLimitStoreException ex) {
                // On a busy machine a call may be too late, here too.
                unknown += ex.getReason() == Reason.SHORT_CIRCUITED ? 0 : 1;
            }
        }
        assertThat(admitted).as(limit + " " + key).isBetween(LARGEST - unknown, LARGEST);
    }

    private String assertWindows() {
        List<String> checked = new ArrayList<>();
        for (String limit : ChangingProcess.WINDOWS) {
            for (int key = 0; key < ChangingProcess.WINDOW_KEYS; key++) {
                checked.add(limit + " " + assertAdmissible(limit, "key" + key, most(limit)));
            }
        }
        return String.join(", ", checked);
    }

    /** Returns the most permits that the largest limit admits in a time: a window more can begin in it than has room. */
    private static LongUnaryOperator most(String limit) {
        return switch (limit) {
            case "tokens" -> nanos -> LARGEST + LARGEST * nanos / WINDOW;
            case "fixed" -> nanos -> LARGEST * (nanos / WINDOW + 2);
            default -> nanos -> LARGEST * (nanos / WINDOW + 1);
        };
    }

    /** Between the beginning of any call and the end of any other, no more are admitted than can be. */
    private String assertAdmissible(String limit, String key, LongUnaryOperator most) {
        List<Admission> all = instances.stream()
                .flatMap(instance -> admissions(counts(instance, limit, key)))
                .sorted(Comparator.comparing(Admission::begin))
                .toList();
        // The smallest of the capacities is there from the beginning on.
        assertThat(all)
                .as(limit + " " + key)
                .hasSizeGreaterThanOrEqualTo(CAPACITIES.get(0).intValue());
        double fullest = 0;
        for (int first = 0; first < all.size(); first++) {
            long begin = all.get(first).begin;
            List<Long> ends = all.subList(first, all.size()).stream()
                    .map(Admission::end)
                    .sorted()
                    .toList();
            for (int count = 1; count <= ends.size(); count++) {
                long admissible = most.applyAsLong(ends.get(count - 1) - begin);
                assertThat((long) count)
                        .as(limit + " " + key + " from " + begin + " to " + ends.get(count - 1))
                        .isLessThanOrEqualTo(admissible);
                fullest = Math.max(fullest, (double) count / admissible);
            }
        }
        return all.size() + " admitted, at most " + Math.round(fullest * 100) + " %";
    }

    private static Stream<Admission> admissions(String[] counts) {
        List<Admission> admissions = new ArrayList<>();
        for (int i = 2; i < counts.length; i += 2) {
            admissions.add(new Admission(Long.parseLong(counts[i]), Long.parseLong(counts[i + 1])));
        }
        return admissions.stream();
    }
}
