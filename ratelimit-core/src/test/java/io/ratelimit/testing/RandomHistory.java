package io.ratelimit.testing;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.spi.Charge;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Calls on up to three limits whose numbers and algorithms change, by a clock that is set now and then. */
public final class RandomHistory {

    private static final long HOUR = 3_600_000_000L;

    private final Random random;

    private final RandomLimits numbers;

    private final Map<Integer, List<RateLimit>> before = new HashMap<>();

    private final String name;

    private final TestClock clock;

    private final RateLimit[] limits = new RateLimit[3];

    private final List<String> calls = new ArrayList<>();

    private boolean blocking;

    private boolean calendars;

    private List<RateLimitAlgorithm> own = List.of();

    private boolean onlyOwn;

    public RandomHistory(Random random, String name, TestClock clock) {
        this.random = random;
        this.numbers = new RandomLimits(random);
        this.name = name;
        this.clock = clock;
        clock.set(TestClock.TODAY);
        for (int i = 0; i < limits.length; i++) {
            change(i);
        }
    }

    /** From now on most limits block keys, for an hour at most. */
    public RandomHistory blocking() {
        blocking = true;
        return this;
    }

    /** From now on some windows are calendar units. */
    public RandomHistory withCalendars() {
        calendars = true;
        return this;
    }

    /** From now on some rules are those of algorithms of an application. */
    public RandomHistory with(List<RateLimitAlgorithm> algorithms) {
        own = algorithms;
        return this;
    }

    /** All rules are those of algorithms of an application. */
    public RandomHistory withOnly(List<RateLimitAlgorithm> algorithms) {
        own = algorithms;
        onlyOwn = true;
        before.clear();
        for (int i = 0; i < limits.length; i++) {
            change(i);
        }
        return this;
    }

    /** Moves the clock and makes up the next call. */
    public List<Charge> next() {
        return nextAtOnce(1).get(0);
    }

    /** The same for calls that come at the same moment. */
    public List<List<Charge>> nextAtOnce(int number) {
        moveClock();
        return IntStream.range(0, number).mapToObj(i -> draw()).toList();
    }

    private List<Charge> draw() {
        if (chance(6)) {
            change(random.nextInt(limits.length));
        }
        int first = random.nextInt(limits.length);
        List<Charge> charges = IntStream.range(first, chance(2) ? first + 1 : limits.length)
                .mapToObj(i -> new Charge(limits[i], "key", permits(limits[i])))
                .toList();
        calls.add(clock.micros() + ": " + charges);
        return charges;
    }

    /** What else was done. */
    public void note(String what) {
        calls.add(clock.micros() + ": " + what);
    }

    public boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    /** Half of the time back to a rule that was in use before. */
    private void change(int number) {
        List<RateLimit> known = before.computeIfAbsent(number, none -> new ArrayList<>());
        if (known.isEmpty() || chance(2)) {
            RateLimit changed = calendars && chance(3)
                    ? numbers.nextCalendarWindow(name + "-" + number)
                    : numbers.next(name + "-" + number);
            if (!own.isEmpty() && (onlyOwn || !chance(3))) {
                changed = numbers.next(name + "-" + number, own.get(random.nextInt(own.size())));
            }
            RateLimit perhapsBlocking = blocking && !chance(4) ? blocking(changed) : changed;
            known.add(chance(4) ? TestLimits.dryRun(perhapsBlocking) : perhapsBlocking);
        }
        limits[number] = known.get(Math.max(0, known.size() - 1 - random.nextInt(4)));
    }

    private RateLimit blocking(RateLimit limit) {
        return TestLimits.blocking(
                limit,
                IntStream.range(0, 1 + random.nextInt(3))
                        .mapToObj(i -> Duration.of(TestRandom.logarithmic(random, 1, HOUR), ChronoUnit.MICROS))
                        .toArray(Duration[]::new));
    }

    private void moveClock() {
        switch (random.nextInt(8)) {
            case 0 -> clock.advance(-random.nextLong(HOUR));
            case 1 -> clock.advance(random.nextLong(2 * HOUR));
            case 2, 3 -> clock.advance(TestRandom.logarithmic(random, 1, 1_000 * HOUR));
            case 4 ->
                clock.advance(limits[random.nextInt(limits.length)]
                                .numbers()
                                .reducedRate()
                                .timeOf(1, 0)
                        % HOUR);
            default -> clock.advance(random.nextInt(2));
        }
    }

    private long permits(RateLimit limit) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(3);
            case 1 -> limit.capacity();
            default -> TestRandom.logarithmic(random, 1, limit.capacity());
        };
    }

    @Override
    public String toString() {
        return String.join("\n", calls);
    }
}
