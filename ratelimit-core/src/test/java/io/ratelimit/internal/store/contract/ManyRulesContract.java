package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * More rules follow each other than a bucket has sections for, and three instances learn of each at another moment. Another bucket
 * has one rule for all they may admit together, and is asked for each call that they admit.
 */
@BothTiers
public abstract class ManyRulesContract extends StoreContract {

    private static final String WITHOUT_WAIT = "io.ratelimit.internal.store.contract.ManyRulesContract#withoutWait";

    private static final int HISTORIES = TestRandom.cases(50);

    private static final int CALLS = 200;

    private static final int RULES = 7;

    private static final int MOST = 20;

    private final Random random = TestRandom.create(getClass());

    private final List<String> calls = new ArrayList<>();

    @ParameterizedTest
    @MethodSource(WITHOUT_WAIT)
    void capacityThatFallsInStepsAndRisesAgainRefundsNothing(LimitKind kind) {
        for (long capacity : List.of(20L, 5L, 6L, 7L, 20L, 8L, 20L)) {
            RateLimit limit = kind.limit("steps", capacity, "20/h");
            assertThat(take(limit, capacity).allowed()).isEqualTo(calls.isEmpty());
            assertThat(take(limit, 1).allowed()).isFalse();
            calls.add(limit.toString());
        }
    }

    static Stream<LimitKind> withoutWait() {
        return Arrays.stream(LimitKind.values()).filter(kind -> !kind.waits());
    }

    /** Windows are of the same length. */
    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_WINDOW_LOG"})
    void windowsOfDifferentCapacitiesAdmitNoMoreThanTheLargestAlone(LimitKind kind) {
        for (int history = 0; history < HISTORIES; history++) {
            String name = "capacities" + history;
            RateLimit[] rules = IntStream.range(0, RULES)
                    .map(i -> i == 0 ? MOST : 2 + random.nextInt(MOST - 2))
                    .mapToObj(capacity -> kind.limit(name, capacity, capacity + "/m"))
                    .toArray(RateLimit[]::new);
            play(rules, kind.limit(name + "alone", MOST, MOST + "/m"));
        }
    }

    /** Each has its own fraction of a permit that is partly back, and returns permits at its own rate. */
    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "LEAKY_BUCKET"})
    void bucketsOfDifferentRatesAdmitNoMoreThanTheLargestCapacityAndTheSumOfTheRates(LimitKind kind) {
        for (int history = 0; history < HISTORIES; history++) {
            String name = "rates" + history;
            int[] rates = random.ints(RULES, 1, 5).toArray();
            RateLimit[] rules = Arrays.stream(rates)
                    .mapToObj(rate -> kind.limit(name, 2 + random.nextLong(MOST - 1), rate + "/m"))
                    .toArray(RateLimit[]::new);
            play(
                    rules,
                    kind.limit(
                            name + "alone", MOST + RULES, Arrays.stream(rates).sum() + "/m"));
        }
    }

    private void play(RateLimit[] rules, RateLimit together) {
        calls.clear();
        int[] known = new int[3];
        int current = 0;
        for (int call = 0; call < CALLS; call++) {
            current = random.nextInt(6) == 0 ? random.nextInt(RULES) : current;
            int instance = random.nextInt(known.length);
            known[instance] = random.nextInt(3) == 0 ? current : known[instance];
            RateLimit rule = rules[known[instance]];
            long permits = 1 + random.nextLong(random.nextInt(10) == 0 ? MOST : 3);
            boolean admitted = take(rule, permits).allowed();
            calls.add(clock.micros() + ": " + permits + " of " + rule + " " + admitted);
            if (admitted) {
                assertThat(take(together, permits).allowed()).as(this::history).isTrue();
            }
            clock.advance(random.nextInt(3) == 0 ? TestRandom.logarithmic(random, 1, 10 * SECOND) : 0);
        }
        clock.advance(Duration.ofMinutes(25));
        assertThat(remaining(rules[current])).as(this::history).isEqualTo(rules[current].capacity());
    }

    private String history() {
        return String.join("\n", calls);
    }

    /** Only one of them is a log, see the decision on changed limits. */
    @Test
    void rulesOfAllAlgorithmsAdmitAtOnceNoMoreThanTheLargestOfThem() {
        List<LimitKind> kinds = withoutWait().toList();
        for (int history = 0; history < 4 * HISTORIES; history++) {
            String name = "mixed" + history;
            List<RateLimit> rules = kinds.stream()
                    .map(kind -> anyWindow(kind, name, 1 + random.nextLong(MOST)))
                    .toList();
            long largest = 0;
            long admitted = 0;
            calls.clear();
            for (int call = 0; call < CALLS / 4; call++) {
                RateLimit rule = rules.get(random.nextInt(rules.size()));
                largest = Math.max(largest, rule.capacity());
                long permits = 1 + random.nextLong(3);
                admitted += take(rule, permits).allowed() ? permits : 0;
                calls.add(permits + " of " + rule);
                assertThat(admitted).as(this::history).isLessThanOrEqualTo(largest);
            }
        }
    }

    private RateLimit anyWindow(LimitKind kind, String name, long capacity) {
        return kind.limit(name, capacity, capacity * (1 + random.nextInt(3)) + "/h");
    }

    /** None of them lasts until a permit is back by it, except the largest. */
    @Test
    void sixRatesInTurnsDoNotStall() {
        RateLimit[] rules = IntStream.rangeClosed(1, 6)
                .mapToObj(i -> TestLimits.tokenBucket("turns", 4L + i, i + "/s"))
                .toArray(RateLimit[]::new);
        int late = 0;
        for (int call = 0; call < 1_200; call++) {
            late += take(rules[call % rules.length], 1).allowed() && call >= 1_000 ? 1 : 0;
            clock.advance(SECOND / 20);
        }
        assertThat(late).isPositive();
    }

    @Test
    void threeRatesInTurnsDoNotStallBesideALargerRuleThatIsNoLongerUsed() {
        take(TestLimits.tokenBucket("left", 100, "100/m"), 100);
        RateLimit[] rules = IntStream.rangeClosed(1, 3)
                .mapToObj(i -> TestLimits.tokenBucket("left", 5, i + "/s"))
                .toArray(RateLimit[]::new);
        int late = 0;
        for (int call = 0; call < 3_000; call++) {
            late += take(rules[call % rules.length], 1).allowed() && call >= 2_000 ? 1 : 0;
            clock.advance(SECOND / 20);
        }
        assertThat(late).isGreaterThan(50);
    }
}
