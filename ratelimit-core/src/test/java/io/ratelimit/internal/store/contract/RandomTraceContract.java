package io.ratelimit.internal.store.contract;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A store decides as the same rules do in rational arithmetic, call by call, whatever the numbers. */
@BothTiers
public abstract class RandomTraceContract {

    /** Of each kind of limit, and of lists of limits. */
    private static final int DECISIONS = 100_000;

    /** How many traces may wait for their answers while the next is drawn. */
    private static final int UNDER_WAY = 16;

    protected final TestClock clock = new TestClock();

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    private final Queue<PlayedTrace> underWay = new ArrayDeque<>();

    protected abstract RateLimitStore store();

    /** Has the store decide what it may have collected so far. */
    protected void flush() {}

    protected int decisions() {
        return DECISIONS;
    }

    @ParameterizedTest
    @EnumSource
    void oneLimit(LimitKind kind) {
        play(kind.name(), number -> List.of(limits.next("limit" + number, kind)));
    }

    @Test
    void severalLimitsOfOneCall() {
        play(
                "lists",
                number -> IntStream.range(0, 2 + random.nextInt(3))
                        .mapToObj(i -> limits.next("several" + number + "-" + i))
                        .map(this::sometimesInDryRun)
                        .toList());
    }

    private void play(String what, IntFunction<List<RateLimit>> nextLimits) {
        int checked = 0;
        for (int number = 0; checked < TestRandom.cases(decisions()); number++) {
            underWay.add(new PlayedTrace(RandomTrace.draw(random, nextLimits.apply(number)), store(), clock));
            flush();
            checked += underWay.size() > UNDER_WAY ? underWay.remove().check() : 0;
        }
        while (!underWay.isEmpty()) {
            checked += underWay.remove().check();
        }
        System.out.println(getClass().getSimpleName() + ", " + what + ": " + checked + " decisions, " + limits);
    }

    private RateLimit sometimesInDryRun(RateLimit limit) {
        return random.nextInt(4) > 0 ? limit : TestLimits.dryRun(limit);
    }
}
