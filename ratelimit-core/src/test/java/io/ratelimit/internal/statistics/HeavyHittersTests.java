package io.ratelimit.internal.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.TestRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Counts of a Zipf load are compared with exact ones. */
class HeavyHittersTests {

    private static final int COUNTERS = 100;

    private static final int KEYS = 10_000;

    private static final int CALLS = 100_000;

    private final Random random = TestRandom.create(HeavyHittersTests.class);

    @Test
    void countsAreNeverTooLowAndTooHighByTheirErrorAtMost() {
        for (double skew : new double[] {0, 0.8, 1, 1.3}) {
            HeavyHitters hitters = new HeavyHitters(COUNTERS);
            Map<String, Long> exact = new HashMap<>();
            load(skew, exact, hitters);
            KeyReport report = hitters.report();
            assertThat(report.counts()).hasSize(COUNTERS);
            assertThat(report.counts().stream().mapToLong(KeyCount::rejected).sum())
                    .isEqualTo(CALLS);
            assertBounds(report, exact, CALLS / COUNTERS);
        }
    }

    @Test
    void mostFrequentKeysAreFoundInTheirOrder() {
        HeavyHitters hitters = new HeavyHitters(COUNTERS);
        Map<String, Long> exact = new HashMap<>();
        load(1.3, exact, hitters);
        assertThat(names(hitters.report().counts()).subList(0, 5)).isEqualTo(mostFrequent(exact, 5));
    }

    @Test
    void sumOfInstancesKeepsTheBounds() {
        Map<String, Long> exact = new HashMap<>();
        List<KeyReport> reports = new ArrayList<>();
        for (int instance = 0; instance < 8; instance++) {
            HeavyHitters hitters = new HeavyHitters(COUNTERS);
            load(1.3, exact, hitters);
            // As an instance reports: fewer than it counts.
            reports.add(KeyReport.sum(List.of(hitters.report()), RejectedKeys.MOST));
        }
        KeyReport sum = KeyReport.sum(reports, 20);
        assertThat(sum.counts()).hasSize(20);
        assertBounds(sum, exact, Long.MAX_VALUE);
        assertThat(names(sum.counts()).subList(0, 5)).isEqualTo(mostFrequent(exact, 5));
    }

    @Test
    void fewKeysAreCountedExactly() {
        HeavyHitters hitters = new HeavyHitters(COUNTERS);
        for (int i = 0; i < 1_000; i++) {
            hitters.add("key" + random.nextInt(COUNTERS));
        }
        KeyReport report = hitters.report();
        assertThat(report.others()).isZero();
        assertThat(report.counts()).allMatch(count -> count.error() == 0);
        assertThat(KeyReport.sum(List.of(report, report), COUNTERS).counts())
                .allMatch(count -> count.error() == 0)
                .extracting(KeyCount::rejected)
                .first()
                .isEqualTo(2 * report.counts().get(0).rejected());
    }

    private void load(double skew, Map<String, Long> exact, HeavyHitters hitters) {
        double[] sums = new double[KEYS];
        double sum = 0;
        for (int rank = 0; rank < KEYS; rank++) {
            sum += 1 / Math.pow(rank + 1, skew);
            sums[rank] = sum;
        }
        for (int i = 0; i < CALLS; i++) {
            int rank = Arrays.binarySearch(sums, random.nextDouble() * sum);
            String key = "key" + (rank < 0 ? -rank - 1 : rank);
            exact.merge(key, 1L, Long::sum);
            hitters.add(key);
        }
    }

    private static void assertBounds(KeyReport report, Map<String, Long> exact, long most) {
        Map<String, Long> others = new HashMap<>(exact);
        for (KeyCount count : report.counts()) {
            long calls = exact.getOrDefault(count.key(), 0L);
            assertThat(count.rejected()).isBetween(calls, calls + count.error());
            assertThat(count.error()).isLessThanOrEqualTo(most);
            others.remove(count.key());
        }
        assertThat(others.values()).allMatch(calls -> calls <= report.others());
        assertThat(report.counts())
                .isSortedAccordingTo(
                        Comparator.comparingLong(KeyCount::rejected).reversed());
    }

    private static List<String> mostFrequent(Map<String, Long> exact, int number) {
        return exact.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(number)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static List<String> names(List<KeyCount> counts) {
        return counts.stream().map(KeyCount::key).toList();
    }
}
