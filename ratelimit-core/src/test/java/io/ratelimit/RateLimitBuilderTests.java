package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.internal.limit.CapacityRange;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestLimits;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
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
        "1/d, 20000",
        "10000000/s, 0",
        "10000000/s, 1000000000",
        "10000000/s, 10",
        "3/7s, 0",
        "3/7s, 900000",
        "999983/d, 0",
        "999983/d, 999983000",
        "1/us, 1000000000"
    })
    void everyAlgorithmHasRoomForUsualNumbers(String rate, long capacity) {
        for (LimitKind kind : LimitKind.values()) {
            long wanted =
                    kind == LimitKind.SLIDING_WINDOW_LOG ? Math.min(capacity, CapacityRange.LARGEST_LOG) : capacity;
            if (kind != LimitKind.SLIDING_WINDOW_LOG || wanted > 0) {
                RateLimit limit = kind.limit("quotes", wanted, rate);
                assertThat(limit.capacity())
                        .isEqualTo(wanted == 0 ? limit.rate().permits() : wanted);
            }
        }
    }

    @Test
    void maxWaitThatIsNoTime() {
        assertRefused(
                builder().rate("1/s").maxWait(Duration.ofSeconds(-1)),
                "maxWait must not be negative (was -1s).",
                "500ms");
        assertRefused(builder().rate("1/s").maxWait(Duration.ofNanos(1)), "whole number of microseconds", "500ms");
    }

    @Test
    void blockForThatIsNoTime() {
        Duration minute = Duration.ofMinutes(1);
        assertRefused(
                builder().rate("1/s").blockFor(minute, Duration.ofSeconds(-1)),
                "blockFor must be positive (was -1s).",
                "a single 0");
        assertRefused(builder().rate("1/s").blockFor(minute, Duration.ZERO), "(was 0s)", "a single 0");
        assertRefused(builder().rate("1/s").blockFor(Duration.ofNanos(1)), "whole number of microseconds", "500ms");
        assertRefused(
                builder().rate("1/s").blockFor(Duration.ofDays(366)),
                "blockFor must be at most 365d (was 366d).",
                "shorter");
        assertRefused(
                builder().rate("1/s").blockFor(Collections.nCopies(17, minute).toArray(Duration[]::new)),
                "blockFor must have at most 16 durations (was 17).",
                "The last one repeats.");
    }

    @Test
    void blockForOfZeroAloneBlocksNothing() {
        assertThat(builder().rate("1/s").blockFor(Duration.ZERO).build().blockFor())
                .isEmpty();
        assertThat(builder().rate("1/s").blockFor().build().blockFor()).isEmpty();
    }

    @Test
    void limitsThatBlockForDifferentTimesDoNotAgree() {
        RateLimit blocking =
                builder().rate("1/s").blockFor(Duration.ofMinutes(1)).build();
        assertThat(blocking.agreesWith(builder().rate("1/s").build())).isFalse();
        assertThat(blocking.agreesWith(
                        builder().rate("1/s").blockFor(Duration.ofSeconds(60)).build()))
                .isTrue();
    }

    @Test
    void whatIsOutOfTheOrdinaryIsShown() {
        assertThat(builder().rate("1/s").refill(Refill.INTERVAL).build())
                .hasToString("TOKEN_BUCKET, capacity 1 at 1/s, refill INTERVAL");
        assertThat(builder(LimitKind.LEAKY_BUCKET)
                        .rate("1/s")
                        .maxWait(Duration.ofMillis(500))
                        .build())
                .hasToString("LEAKY_BUCKET, capacity 1 at 1/s, maxWait 500ms");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-", "_", "a b", "a.b", "größe", "a/b", "a{b}", "a\n"})
    void name(String name) {
        assertRefused(
                RateLimit.named(name).rate("1/s"),
                "name must consist of letters, digits, '-' and '_' (was \"" + name + "\").",
                "Rename the limit.");
    }

    @Test
    void missingRate() {
        assertRefused(builder(), "rate must be set.", "Call rate(\"10/s\")");
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(builder()::build)
                .satisfies(ex -> assertThat(ex.getPlace()).isEqualTo("RateLimit.named(\"quotes\")"));
        assertRefused(builder().rate(" "), "rate must be set.", "\"10/s\"");
    }

    @ParameterizedTest
    @CsvSource({
        "fast, 'rate must be permits per period (was \"fast\").', \"10/s\"",
        "0/s, 'rate must have at least 1 permit (was \"0/s\").', \"10/s\"",
        "1/P53000D, rate must have a period of at most 142 years, Use a shorter period.",
        "1/PT9223372036854775807S, rate must have a period of at most 142 years, Use a shorter period.",
        "999999937/10000000001s, rate must have a period of at most 142 years, Use a shorter period.",
        "9007199254740881/s, rate must be exact in integers below 2^53 (was 9007199254740881/s)., rounder numbers",
    })
    void rate(String rate, String problem, String fix) {
        assertRefused(builder().rate(rate).capacity(1), problem, fix);
    }

    @Test
    void rateAsPermitsAndPeriod() {
        assertThat(builder().rate(20, Duration.ofSeconds(2)).build().rate())
                .isEqualTo(new Rate(20, Duration.ofSeconds(2)));
        assertThat(builder()
                        .rate(3, Duration.of(500, ChronoUnit.MICROS))
                        .build()
                        .rate())
                .hasToString("3/500us");
        assertRefused(
                builder().rate(0, Duration.ofSeconds(1)),
                "rate must have at least 1 permit (was \"0/PT1S\").",
                "\"10/s\"");
        assertRefused(
                builder().rate(-5, Duration.ofSeconds(1)),
                "rate must be permits per period (was \"-5/PT1S\").",
                "\"10/s\"");
        assertRefused(
                builder().rate(5, Duration.ofSeconds(-1)),
                "rate must have a period of at least 1 us, in whole microseconds (was \"5/PT-1S\").",
                "\"10/s\"");
        assertRefused(
                builder().rate(5, Duration.ofNanos(1_500)),
                "rate must have a period of at least 1 us, in whole microseconds (was \"5/PT0.0000015S\").",
                "\"10/s\"");
    }

    @ParameterizedTest
    @CsvSource({
        "1/s, -1, capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was -1).",
        "1/s, 1000000001, capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was 1000000001).",
        "2000000000/s, 0, 'capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 2000000000/s (was 2000000000, the number in the rate).'",
        "1/d, 52125, capacity must be from 1 to 52124 for TOKEN_BUCKET at the rate 1/d (was 52125)."
    })
    void capacity(String rate, long capacity, String problem) {
        assertRefusedExactly(builder().rate(rate).capacity(capacity), problem, "Change it, or the rate.");
    }

    @ParameterizedTest
    @CsvSource({
        "FIXED_WINDOW, FIXED_WINDOW",
        "SLIDING_WINDOW, SLIDING_WINDOW",
        "SLIDING_WINDOW_LOG, SLIDING_WINDOW_LOG",
        "TOKEN_BUCKET_BY_INTERVALS, TOKEN_BUCKET with refill INTERVAL"
    })
    void maxWaitWhereNothingCanBeReserved(LimitKind kind, String rule) {
        assertRefusedExactly(
                builder(kind).rate("1/s").maxWait(Duration.ofSeconds(1)),
                "maxWait must be 0 for " + rule + ", which cannot reserve permits (was 1s).",
                "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET.");
    }

    @ParameterizedTest
    @EnumSource(names = "TOKEN_BUCKET", mode = EnumSource.Mode.EXCLUDE)
    void intervalsOfWhatHasNoRefill(Algorithm algorithm) {
        assertRefusedExactly(
                builder().algorithm(algorithm).refill(Refill.INTERVAL).rate("1/s"),
                "refill must be CONTINUOUS for " + algorithm + " (was INTERVAL).",
                "Remove it, or use TOKEN_BUCKET.");
    }

    @ParameterizedTest
    @CsvSource({"3/7s, 1, 3", "3/7s, 1000000, 3", "6/7s, 6001, 3", "7/3us, 8, 7"})
    void slidingWindowOfAFractionOfAMicrosecond(String rate, long capacity, long step) {
        RateLimitBuilder sliding = builder(LimitKind.SLIDING_WINDOW).rate(rate).capacity(capacity);
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(sliding::build)
                .satisfies(ex -> assertThat(ex.getProblem())
                        .isEqualTo("capacity must be a multiple of " + step + " for SLIDING_WINDOW at the rate " + rate
                                + " (was " + capacity + ")."))
                .satisfies(ex -> assertThat(ex.getFix())
                        .startsWith("Otherwise the window is not a whole number of microseconds."));
    }

    @Test
    void logThatIsTooLarge() {
        RateLimitBuilder log = builder(LimitKind.SLIDING_WINDOW_LOG).rate("1/s");
        assertThat(log.capacity(10_000).build().capacity()).isEqualTo(10_000);
        assertRefusedExactly(
                log.capacity(10_001),
                "capacity must be from 1 to 10000 for SLIDING_WINDOW_LOG at the rate 1/s (was 10001).",
                "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit.");
    }

    @Test
    void maxWaitThatIsTooLong() {
        assertRefusedExactly(
                builder(LimitKind.TOKEN_BUCKET_WITH_WAIT).rate("1/s").maxWait(Duration.ofDays(60_000)),
                "maxWait must be exact in integers below 2^53 at the rate 1/s (was 60000d).",
                "Use a shorter one.");
        assertRefusedExactly(
                builder().algorithm(Algorithm.CONCURRENCY).capacity(1).maxWait(Duration.ofDays(110_000)),
                "maxWait must be exact in integers below 2^53 (was 110000d).",
                "Use a shorter one.");
    }

    @ParameterizedTest
    @EnumSource(names = {"TOKEN_BUCKET", "TOKEN_BUCKET_BY_INTERVALS", "FIXED_WINDOW", "SLIDING_WINDOW"})
    void leaseUpToTheCapacity(LimitKind kind) {
        RateLimitBuilder builder = builder(kind).rate("10/s");
        assertThat(builder.lease(10).build().lease()).isEqualTo(10);
        assertRefusedExactly(
                builder.lease(11),
                "lease must be from 0 to the capacity 10 (was 11).",
                "Remove it, or use a smaller one.");
        assertRefused(builder.lease(-1), "lease must be from 0 to the capacity 10 (was -1).", "Remove it");
    }

    @ParameterizedTest
    @CsvSource({
        "LEAKY_BUCKET, 0s, 10, the slots of LEAKY_BUCKET are in the order of the calls",
        "SLIDING_WINDOW_LOG, 0s, 10, an entry of SLIDING_WINDOW_LOG has the time of its call",
        "TOKEN_BUCKET, 1s, 10, 'permits that are reserved ahead, by maxWait, are in the order of the calls'",
        "LEAKY_BUCKET, 1s, 10, the slots of LEAKY_BUCKET are in the order of the calls",
        "TOKEN_BUCKET_BY_INTERVALS, 0s, 11, 'batches of 10 do not fill the bucket of 11,"
                + " so what is not handed out would shift its periods'"
    })
    void leaseThatCouldNotBeExact(LimitKind kind, String maxWait, long capacity, String obstacle) {
        assertRefusedExactly(
                builder(kind)
                        .rate("10/s")
                        .capacity(capacity)
                        .maxWait(Duration.parse("PT" + maxWait))
                        .lease(5),
                "lease must be 0 here, because " + obstacle + " (was 5).",
                "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS and no maxWait, FIXED_WINDOW or SLIDING_WINDOW.");
    }

    /** The largest that is named can be built, and the next one cannot. */
    @ParameterizedTest
    @EnumSource
    void theRangeThatIsNamedIsTheRange(LimitKind kind) {
        Duration wait = kind.waits() ? Duration.ofSeconds(10) : Duration.ZERO;
        for (String rate : List.of("1/d", "7/30d", "1/P365D", "999999937/d", "13/3h", "10000000/s")) {
            RateLimitBuilder builder = builder(kind).rate(rate).maxWait(wait);
            long[] range = namedRange(builder.definition().declaration().capacity(RateLimit.MAX_CAPACITY + 1));
            for (long capacity : range) {
                assertThat(builder.definition()
                                .declaration()
                                .capacity(capacity)
                                .build()
                                .capacity())
                        .isEqualTo(capacity);
            }
            long beyond = range[1] + range[0];
            assertRefused(builder.definition().declaration().capacity(beyond), "(was " + beyond + ")", "");
        }
    }

    private static long[] namedRange(RateLimitBuilder tooLarge) {
        try {
            throw new AssertionError(tooLarge.build() + " was not refused");
        } catch (RateLimitConfigurationException ex) {
            Matcher range = Pattern.compile("capacity must be from (\\d+) to (\\d+) for")
                    .matcher(ex.getProblem());
            assertThat(range.find()).as(ex.getFix()).isTrue();
            return new long[] {Long.parseLong(range.group(1)), Long.parseLong(range.group(2))};
        }
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

    private static RateLimitBuilder builder(LimitKind kind) {
        return builder().algorithm(kind.algorithm()).refill(kind.refill());
    }

    private static void assertRefusedExactly(RateLimitBuilder builder, String problem, String fix) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(builder::build)
                .satisfies(ex -> assertThat(ex.getProblem()).isEqualTo(problem))
                .satisfies(ex -> assertThat(ex.getFix()).isEqualTo(fix));
    }

    private static void assertRefused(RateLimitBuilder builder, String problem, String fix) {
        assertThatExceptionOfType(RateLimitConfigurationException.class)
                .isThrownBy(builder::build)
                .satisfies(ex -> assertThat(ex.getProblem()).contains(problem))
                .satisfies(ex -> assertThat(ex.getFix()).contains(fix));
    }
}
