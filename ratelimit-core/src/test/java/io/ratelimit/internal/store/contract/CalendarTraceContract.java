package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.RandomLimits;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store decides about calendar windows as a model does that only looks at what the calendar shows, call by call, with a liking
 * for the last and the first microsecond of units.
 */
@BothTiers
public abstract class CalendarTraceContract {

    private static final int TRACES = 300;

    protected final TestClock clock = new TestClock();

    private final Random random = TestRandom.create(getClass());

    private final RandomLimits limits = new RandomLimits(random);

    protected abstract RateLimitStore store();

    @Test
    void oneLimit() {
        for (int i = 0; i < TestRandom.cases(TRACES); i++) {
            play(RandomTrace.draw(random, List.of(limits.nextCalendarWindow("calendar" + i))));
        }
    }

    @Test
    void severalLimitsOfOneCall() {
        for (int i = 0; i < TestRandom.cases(TRACES); i++) {
            String name = "calendars" + i + "-";
            List<RateLimit> together = IntStream.range(0, 2 + random.nextInt(3))
                    .mapToObj(n -> n == 0 || random.nextBoolean()
                            ? limits.nextCalendarWindow(name + n)
                            : limits.next(name + n))
                    .map(limit -> random.nextInt(4) > 0 ? limit : TestLimits.dryRun(limit))
                    .toList();
            play(RandomTrace.draw(random, together));
        }
    }

    /** Days were skipped, and cut at midnight. */
    @ParameterizedTest
    @ValueSource(strings = {"1994-12-31T10:00:00Z", "2011-12-30T09:00:00Z", "2026-03-08T05:00:00Z"})
    void aroundChangesOfTheClocks(Instant around) {
        for (int i = 0; i < TestRandom.cases(TRACES / 3); i++) {
            long start = around.getEpochSecond() * 1_000_000 - random.nextLong(200_000_000_000L);
            RateLimit limit = limits.nextCalendarWindow("changed-" + around.getEpochSecond() + "-" + i);
            play(RandomTrace.drawFrom(start, random, List.of(limit)));
        }
    }

    /** Each call waits for the answer to the one before it, because the first of a window may be sent twice. */
    private void play(List<TraceStep> steps) {
        for (int i = 0; i < steps.size(); i++) {
            TraceStep step = steps.get(i);
            int last = i;
            clock.set(step.now());
            assertThat(store().decide(StoreRequest.of(step.charges())).await().decisions())
                    .as(() -> steps.get(0).charges() + " after " + steps.subList(0, last + 1))
                    .isEqualTo(step.expected());
        }
    }
}
