package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store decides as the same rules do in rational arithmetic, call by call, whatever the numbers. */
public abstract class RandomTraceContract {

    private static final int CALLS = 60;

    protected final TestClock clock = new TestClock();

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    private int decisions;

    protected abstract RateLimitStore store();

    /** How many traces of each kind. */
    protected abstract int traces();

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "FIXED_WINDOW"})
    void oneLimit(Algorithm algorithm) {
        for (int i = 0; i < traces(); i++) {
            check(List.of(limits.next("limit" + i, algorithm)));
        }
        report(algorithm.name());
    }

    @Test
    void severalLimitsOfOneCall() {
        for (int i = 0; i < traces() / 4; i++) {
            String name = "several" + i + "-";
            check(IntStream.range(0, 2 + random.nextInt(3))
                    .mapToObj(number -> limits.next(name + number, randomAlgorithm()))
                    .map(this::sometimesInDryRun)
                    .toList());
        }
        report("lists");
    }

    private void check(List<RateLimit> together) {
        RandomTrace trace = new RandomTrace(random, together);
        clock.set(trace.start());
        ReferenceStore reference = new ReferenceStore(clock);
        List<String> history = new ArrayList<>();
        for (int call = 0; call < CALLS; call++) {
            List<Charge> charges = trace.nextCharges();
            List<RateLimitDecision> expected = reference.decide(charges);
            history.add(clock.micros() + ": "
                    + charges.stream().map(Charge::permits).toList());
            assertThat(store().decide(charges))
                    .as(() -> together + " after " + history)
                    .isEqualTo(expected);
            decisions += charges.size();
            clock.set(trace.after(clock.micros(), expected));
        }
    }

    private Algorithm randomAlgorithm() {
        return random.nextBoolean() ? Algorithm.TOKEN_BUCKET : Algorithm.FIXED_WINDOW;
    }

    private RateLimit sometimesInDryRun(RateLimit limit) {
        return random.nextInt(4) > 0 ? limit : TestLimits.dryRun(limit);
    }

    private void report(String what) {
        System.out.println(getClass().getSimpleName() + ", " + what + ": " + decisions + " decisions, " + limits);
    }
}
