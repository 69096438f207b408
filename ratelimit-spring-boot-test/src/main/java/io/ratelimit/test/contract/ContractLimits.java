package io.ratelimit.test.contract;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.Refill;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.Stream;

/** The limits that a store is asked about: of every kind, with several numbers. */
final class ContractLimits {

    /** Every window is a whole number of microseconds, and no period brings back more than the capacity. */
    private static final List<RateLimitAlgorithmContract.Numbers> NUMBERS = List.of(
            new RateLimitAlgorithmContract.Numbers(1, "1/s"),
            new RateLimitAlgorithmContract.Numbers(6, "3/s"),
            new RateLimitAlgorithmContract.Numbers(21, "3/7s"),
            new RateLimitAlgorithmContract.Numbers(60, "20/h"),
            new RateLimitAlgorithmContract.Numbers(490, "7/ms"));

    private ContractLimits() {}

    /** Returns limits with a rate: every kind with all numbers. */
    static List<RateLimit> all() {
        return NUMBERS.stream().flatMap(ContractLimits::ofEveryKind).toList();
    }

    private static Stream<RateLimit> ofEveryKind(RateLimitAlgorithmContract.Numbers numbers) {
        return Stream.of(
                        limit("bucket", numbers),
                        limit("intervals", numbers).refill(Refill.INTERVAL),
                        limit("reserving", numbers).maxWait(Duration.ofSeconds(1)),
                        limit("blocking", numbers).blockFor(Duration.ofSeconds(10), Duration.ofMinutes(1)),
                        limit("leaky", numbers).algorithm(Algorithm.LEAKY_BUCKET),
                        limit("window", numbers).algorithm(Algorithm.FIXED_WINDOW),
                        limit("calendar", numbers)
                                .algorithm(Algorithm.FIXED_WINDOW)
                                .rate(numbers.capacity() + "/day")
                                .zone(ZoneId.of("Europe/Berlin")),
                        limit("sliding", numbers).algorithm(Algorithm.SLIDING_WINDOW),
                        limit("log", numbers).algorithm(Algorithm.SLIDING_WINDOW_LOG),
                        limit("own", numbers).algorithm(new PeriodWindow()))
                .map(RateLimitBuilder::build);
    }

    private static RateLimitBuilder limit(String name, RateLimitAlgorithmContract.Numbers numbers) {
        return RateLimit.named(name + "-" + numbers.capacity())
                .capacity(numbers.capacity())
                .rate(numbers.rate());
    }

    static RateLimit concurrency() {
        return RateLimit.named("held")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(3)
                .build();
    }

    /** An algorithm of an application: permits come back all together, one period after the first of them was taken. */
    private static final class PeriodWindow implements RateLimitAlgorithm {

        @Override
        public String name() {
            return "period-window";
        }

        @Override
        public State recover(Rule rule, State state, long now) {
            return now - state.since() >= rule.periodMicros() ? new State(0, now, 0) : state;
        }

        @Override
        public long timeUntil(Rule rule, State state, long now, long most) {
            return state.since() + rule.periodMicros() - now;
        }
    }
}
