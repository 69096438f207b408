package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store blocks keys as the definition says, call by call, and does what operators want meanwhile. */
@BothTiers
public abstract class BlockingTraceContract {

    /** Of each kind of limit, and of lists of limits: more than 100,000 in every build, of all stores together. */
    private static final int DECISIONS = 300_000;

    /** A year in microseconds. */
    private static final long LONGEST = 31_536_000_000_000L;

    /** How many traces may wait for their answers while the next is drawn. */
    private static final int UNDER_WAY = 16;

    protected final TestClock clock = new TestClock();

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    private final Queue<Played> underWay = new ArrayDeque<>();

    protected abstract RateLimitStore store();

    /** Has the store decide what it may have collected so far. */
    protected void flush() {}

    @ParameterizedTest
    @EnumSource
    void oneLimit(LimitKind kind) {
        play(kind.name(), number -> List.of(blocking(limits.next("blocking" + number, kind))));
    }

    @Test
    void severalLimitsOfOneCall() {
        play(
                "lists",
                number -> IntStream.range(0, 2 + random.nextInt(2))
                        .mapToObj(i -> limits.next("several-blocking" + number + "-" + i))
                        .map(limit -> random.nextInt(3) == 0 ? limit : blocking(limit))
                        .map(limit -> random.nextInt(4) == 0 ? TestLimits.dryRun(limit) : limit)
                        .toList());
    }

    private void play(String what, IntFunction<List<RateLimit>> nextLimits) {
        int checked = 0;
        for (int number = 0; checked < TestRandom.cases(DECISIONS); number++) {
            underWay.add(new Played(BlockingTrace.draw(random, nextLimits.apply(number))));
            flush();
            checked += underWay.size() > UNDER_WAY ? underWay.remove().check() : 0;
        }
        while (!underWay.isEmpty()) {
            checked += underWay.remove().check();
        }
        System.out.println(getClass().getSimpleName() + ", " + what + ": " + checked + " decisions, " + limits);
    }

    private RateLimit blocking(RateLimit limit) {
        return TestLimits.blocking(
                limit,
                IntStream.range(0, 1 + random.nextInt(4))
                        .mapToObj(i -> Duration.of(blockMicros(limit), ChronoUnit.MICROS))
                        .toArray(Duration[]::new));
    }

    /** About the time of a few permits, or of a window, or any. */
    private long blockMicros(RateLimit limit) {
        long most = switch (random.nextInt(3)) {
            case 0 -> 5 * limit.numbers().reducedRate().timeOf(1, 0);
            case 1 -> limit.fullMicros();
            default -> TestRandom.logarithmic(random, 1, LONGEST);
        };
        return 1 + random.nextLong(Math.min(most, LONGEST));
    }

    /** A trace that the store has been asked. Its answers may still be on their way. */
    private final class Played {

        private final List<BlockingTrace.Step> steps;

        private final List<CompletionStage<?>> answers = new ArrayList<>();

        Played(List<BlockingTrace.Step> steps) {
            this.steps = steps;
            for (BlockingTrace.Step step : steps) {
                clock.set(step.now());
                answers.add(step.ask(store()));
            }
        }

        int check() {
            int decisions = 0;
            for (int i = 0; i < steps.size(); i++) {
                int number = i;
                assertThat((Object) answers.get(i).toCompletableFuture().join())
                        .as(() -> history(number))
                        .isEqualTo(steps.get(i).expected());
                decisions += steps.get(i).decisions();
            }
            return decisions;
        }

        private String history(int number) {
            return steps.get(number) + " after\n"
                    + String.join(
                            "\n",
                            steps.subList(0, number).stream()
                                    .map(BlockingTrace.Step::toString)
                                    .toList());
        }
    }
}
