package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitBuilderTests {

    @Test
    void defaults() {
        RateLimit limit = RateLimit.named("Quotes").rate("20/2s").build();
        assertThat(limit).hasToString("TOKEN_BUCKET, capacity 20 at 20/2s");
        assertThat(limit.name()).isEqualTo("Quotes");
        assertThat(limit.id()).isEqualTo("quotes");
        assertThat(limit.refill()).isEqualTo(Refill.CONTINUOUS);
        assertThat(limit.enabled()).isTrue();
        assertThat(limit.dryRun()).isFalse();
        assertThat(limit.onStoreFailure()).isEqualTo(OnStoreFailure.LOCAL);
    }

    @ParameterizedTest
    @CsvSource({
        "1/d, 1",
        "1/d, 50000",
        "10000000/s, 0",
        "10000000/s, 1000000000",
        "10000000/s, 1",
        "3/7s, 0",
        "3/7s, 1000000",
        "999983/d, 0",
        "999983/d, 1",
        "999983/d, 1000000000",
        "1/us, 1000000000"
    })
    void everyAlgorithmHasTheSameRange(String rate, long capacity) {
        for (Algorithm algorithm : new Algorithm[] {Algorithm.TOKEN_BUCKET, Algorithm.FIXED_WINDOW}) {
            RateLimit limit =
                    builder().algorithm(algorithm).rate(rate).capacity(capacity).build();
            assertThat(limit.capacity()).isEqualTo(capacity == 0 ? limit.rate().permits() : capacity);
        }
    }

    @Test
    void contradictions() {
        RateLimitBuilder window = builder().rate("1/s").algorithm(Algorithm.FIXED_WINDOW);
        assertRefused(window.copy().refill(Refill.INTERVAL), "refill is INTERVAL, but FIXED_WINDOW", "TOKEN_BUCKET");
        assertRefused(window.copy().maxWait(Duration.ofSeconds(1)), "maxWait is set, but FIXED_WINDOW", "Remove it");
        assertRefused(builder().rate("1/s").maxWait(Duration.ofSeconds(-1)), "maxWait is negative", "500ms");
        assertRefused(builder().rate("1/s").maxWait(Duration.ofNanos(1)), "whole number of microseconds", "500ms");
        assertRefused(
                builder().rate("1/s").refill(Refill.INTERVAL).maxWait(Duration.ofSeconds(1)),
                "maxWait is set, but TOKEN_BUCKET with refill INTERVAL cannot",
                "LEAKY_BUCKET");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "_", "a b", "a.b", "größe", "a/b", "a{b}", "a\n"})
    void name(String name) {
        assertRefused(RateLimit.named(name).rate("1/s"), "name '" + name + "'", "Use letters, digits, '-' and '_'.");
    }

    @Test
    void missingRate() {
        assertRefused(builder(), "rate is missing", "Call rate(\"10/s\")");
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(builder()::build)
                .satisfies(ex -> assertThat(ex.getPlace()).isEqualTo("RateLimit.named(\"quotes\")"));
        assertRefused(builder().rate(" "), "rate is missing", "\"10/s\"");
    }

    @ParameterizedTest
    @CsvSource({
        "fast, 'rate is wrong: ''fast'' is not a rate', \"10/s\"",
        "0/s, rate is wrong: a rate needs at least 1 permit, \"10/s\"",
        "1/P53000D, its period is too long, 142 years",
        "1/PT9223372036854775807S, its period is too long, 142 years",
        "999999937/10000000001s, its period is too long, 142 years",
        "9007199254740881/s, rate 9007199254740881/s cannot be carried exactly, rounder numbers",
    })
    void rate(String rate, String problem, String fix) {
        assertRefused(builder().rate(rate).capacity(1), problem, fix);
    }

    @ParameterizedTest
    @CsvSource({
        "1/s, -1, capacity -1 is out of range, a capacity from 1 to 1000000000",
        "1/s, 1000000001, capacity 1000000001 is out of range, a capacity from 1 to 1000000000",
        "2000000000/s, 0, capacity 2000000000 (the number in the rate) is out of range, from 1 to 1000000000",
        "1/d, 52125, capacity 52125 is out of range, At the rate 1/d a capacity from 1 to 52124"
    })
    void capacity(String rate, long capacity, String problem, String fix) {
        assertRefused(builder().rate(rate).capacity(capacity), problem, fix);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1/d", "999999937/d", "13/3h"})
    void theRangeThatIsNamedIsTheRange(String rate) {
        long most = Math.min(RateLimit.MAX_CAPACITY, Pace.of(Rate.parse(rate)).largestCapacity());
        assertThat(builder().rate(rate).capacity(most).build().capacity()).isEqualTo(most);
        assertRefused(builder().rate(rate).capacity(most + 1), "capacity " + (most + 1), "from 1 to " + most);
    }

    @Test
    void builtLimitIsIndependentOfItsBuilder() {
        RateLimitBuilder builder = builder().rate("1/s");
        RateLimit limit = builder.build();
        builder.rate("5/s").capacity(7);
        assertThat(TestLimits.dryRun(limit)).hasToString("TOKEN_BUCKET, capacity 1 at 1/s, dry run");
    }

    private static RateLimitBuilder builder() {
        return RateLimit.named("quotes");
    }

    private static void assertRefused(RateLimitBuilder builder, String problem, String fix) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(builder::build)
                .satisfies(ex -> assertThat(ex.getProblem()).contains(problem))
                .satisfies(ex -> assertThat(ex.getFix()).contains(fix));
    }
}
