package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.analysis;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.Refill;
import io.ratelimit.annotation.RateLimited;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** A mistake in an annotation or in the configuration stops the start-up: what, where, and the fix. */
class LimitMistakeTests {

    static Stream<Arguments> mistakesOfAnnotations() {
        return Stream.of(
                Arguments.of(
                        NoRate.class,
                        "rate must be set.",
                        "Give the declaration a rate such as \"10/s\", or set ratelimit.limits.no-rate-call.rate in the configuration."),
                Arguments.of(
                        WrongRate.class,
                        "rate must be permits per period (was \"ten per second\").",
                        "Write it like \"10/s\", \"100/m\""),
                Arguments.of(
                        WrongPeriod.class,
                        "rate must have a duration as its period (was \"1/fortnight\").",
                        "Write it"),
                Arguments.of(
                        ZeroRate.class, "rate must have at least 1 permit (was \"0/s\").", "Write it like \"10/s\""),
                Arguments.of(
                        Unresolved.class,
                        "rate must not have an unresolved placeholder (was \"${acme.rate}\").",
                        "Set the property, or give it a default: \"${quotes.rate:10/s}\"."),
                Arguments.of(
                        EndlessRate.class,
                        "rate must have a period of at most 142 years (was 1/999999999d).",
                        "Use a shorter period."),
                Arguments.of(
                        InexactRate.class,
                        "rate must be exact in integers below 2^53 (was 9007199254740881/7d).",
                        "Use a rate between 1 a year and 10 million a second, in rounder numbers."),
                Arguments.of(
                        NegativeCapacity.class,
                        "capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was -1).",
                        "Change it, or the rate."),
                Arguments.of(
                        HugeCapacity.class,
                        "capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was 1000000001).",
                        "Change it, or the rate."),
                Arguments.of(
                        NegativeCost.class,
                        "permits must be a whole number from 0 to 1000000000 (was -1).",
                        "Write what a call costs. 0 is free."),
                Arguments.of(
                        WrongWait.class,
                        "maxWait must be a duration (was \"soon\").",
                        "Write it like \"500ms\", \"2s\" or \"PT2S\"."),
                Arguments.of(NegativeWait.class, "maxWait must not be negative (was -1s).", "Write it like \"500ms\"."),
                Arguments.of(
                        WrongBlock.class,
                        "blockFor must be a duration (was \"long\").",
                        "Write it like \"1m\", or \"1m, 10m, 1h\"."),
                Arguments.of(
                        MissingBlock.class,
                        "blockFor must be a duration (was \"\").",
                        "Write it like \"1m\", or \"1m, 10m, 1h\"."),
                Arguments.of(
                        NoBlockInTheMiddle.class,
                        "blockFor must be positive (was 0s).",
                        "Use longer ones, or a single 0 to block nothing."),
                Arguments.of(
                        WaitingWindow.class,
                        "maxWait must be 0 for FIXED_WINDOW, which cannot reserve permits (was 1s).",
                        "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET."),
                Arguments.of(
                        RefilledWindow.class,
                        "refill must be CONTINUOUS for FIXED_WINDOW (was INTERVAL).",
                        "Remove it, or use TOKEN_BUCKET."),
                Arguments.of(
                        UnevenWindow.class,
                        "capacity must be a multiple of 3 for SLIDING_WINDOW at the rate 3/7s (was 10).",
                        "Otherwise the window is not a whole number of microseconds."),
                Arguments.of(
                        HugeLog.class,
                        "capacity must be from 1 to 10000 for SLIDING_WINDOW_LOG at the rate 1/s (was 10001).",
                        "Change it, or use SLIDING_WINDOW, which does not store an entry for each permit."));
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource("mistakesOfAnnotations")
    void mistakeInAnAnnotationStopsTheStartUp(Class<?> type, String what, String fix) {
        LimitedContexts.inMemory()
                .withConfiguration(AutoConfigurations.of(PropertyPlaceholderAutoConfiguration.class))
                .withBean(type)
                .run(context -> {
                    FailureAnalysis analysis = analysis(context);
                    assertThat(analysis.getDescription())
                            .startsWith("The configuration of the rate limits is invalid.")
                            .contains("Where: " + type.getName() + ".call()")
                            .contains("What: " + what);
                    assertThat(analysis.getAction()).startsWith(fix);
                });
    }

    @ParameterizedTest
    @EnumSource(names = "CONCURRENCY", mode = EnumSource.Mode.EXCLUDE)
    void everyAlgorithmCanBeConfigured(Algorithm algorithm) {
        LimitedContexts.inMemory()
                .withBean(Sound.class)
                .withPropertyValues("ratelimit.limits.sound.algorithm=" + algorithm)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "rate=often, rate must be permits per period (was \"often\").",
        "capacity=-5, capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was -5).",
        "capacity=0, capacity must be from 1 to 1000000000 for TOKEN_BUCKET at the rate 1/s (was 0).",
        "permits=1.5, permits must be a whole number from 0 to 1000000000 (was 1.5).",
        "permits=-1.5, permits must be a whole number from 0 to 1000000000 (was -1.5).",
        "permits='two', permits must be a whole number from 0 to 1000000000 (was 'two').",
        "permits='-1', permits must be a whole number from 0 to 1000000000 (was '-1').",
        "permits='1.5e0', permits must be a whole number from 0 to 1000000000 (was '1.5e0').",
        "permits=1.5e0, permits must be a whole number from 0 to 1000000000 (was 1.5e0).",
        "permits=3/2.0, permits must be a whole number from 0 to 1000000000 (was 3/2.0).",
        "permits=2-3, permits must be a whole number from 0 to 1000000000 (was 2-3).",
        "permits=1/0, permits must be a whole number from 0 to 1000000000 (was 1/0).",
        "permits=2>1, permits must be a whole number from 0 to 1000000000 (was 2>1).",
        "permits=1000000001, permits must be a whole number from 0 to 1000000000 (was 1000000001).",
        "permits=null, permits must be a whole number from 0 to 1000000000 (was null).",
        "permits='', permits must be a whole number from 0 to 1000000000 (was '').",
        "max-wait=-1s, max-wait must not be negative (was -1s).",
        "scope=instance lease=1, 'lease must be 0 here, because a limit with scope INSTANCE is counted in memory (was 1).'",
        "block-for=-1s, block-for must be positive (was -1s).",
        "block-for=366d, block-for must be at most 365d (was 366d).",
        "algorithm=fixed-window max-wait=500ms, 'max-wait must be 0 for FIXED_WINDOW, which cannot reserve permits (was 500ms).'",
        "refill=interval max-wait=500ms, 'max-wait must be 0 for TOKEN_BUCKET with refill INTERVAL, which cannot reserve permits (was 500ms).'",
        "algorithm=leaky-bucket refill=interval, 'refill must be CONTINUOUS for LEAKY_BUCKET (was INTERVAL).'",
        "algorithm=sliding-window-log capacity=10001, capacity must be from 1 to 10000 for SLIDING_WINDOW_LOG at the rate 1/s (was 10001).",
        "algorithm=sliding-window rate=3/7s capacity=4, capacity must be a multiple of 3 for SLIDING_WINDOW at the rate 3/7s (was 4)."
    })
    void mistakeInTheConfigurationNamesTheProperty(String mistake, String what) {
        String[] properties = Arrays.stream(mistake.split(" "))
                .map(property -> "ratelimit.limits.sound." + property)
                .toArray(String[]::new);
        LimitedContexts.inMemory()
                .withBean(Sound.class)
                .withPropertyValues(properties)
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("Where: " + Sound.class.getName() + ".call()")
                        .contains("What: ratelimit.limits.sound." + what));
    }

    @Test
    void mistakeInALimitOfTheConfigurationAloneNamesTheProperty() {
        LimitedContexts.inMemory()
                .withPropertyValues("ratelimit.limits.exports.rate=often")
                .run(context -> assertThat(analysis(context).getDescription())
                        .contains("ratelimit.limits.exports.rate must be permits per period (was \"often\")."));
    }

    static class Sound {

        @RateLimited(name = "sound", rate = "1/s")
        public void call() {}
    }

    static class NoRate {

        @RateLimited
        public void call() {}
    }

    static class WrongRate {

        @RateLimited(rate = "ten per second")
        public void call() {}
    }

    static class WrongPeriod {

        @RateLimited(rate = "1/fortnight")
        public void call() {}
    }

    static class ZeroRate {

        @RateLimited(rate = "0/s")
        public void call() {}
    }

    static class Unresolved {

        @RateLimited(rate = "${acme.rate}")
        public void call() {}
    }

    static class EndlessRate {

        @RateLimited(rate = "1/999999999d")
        public void call() {}
    }

    static class InexactRate {

        @RateLimited(rate = "9007199254740881/7d")
        public void call() {}
    }

    static class NegativeCapacity {

        @RateLimited(rate = "1/s", capacity = -1)
        public void call() {}
    }

    static class HugeCapacity {

        @RateLimited(rate = "1/s", capacity = 1_000_000_001)
        public void call() {}
    }

    static class NegativeCost {

        @RateLimited(rate = "1/s", permits = "-1")
        public void call() {}
    }

    static class WrongWait {

        @RateLimited(rate = "1/s", maxWait = "soon")
        public void call() {}
    }

    static class WrongBlock {

        @RateLimited(rate = "1/s", blockFor = "1m, long")
        public void call() {}
    }

    static class MissingBlock {

        @RateLimited(rate = "1/s", blockFor = "1m,")
        public void call() {}
    }

    static class NoBlockInTheMiddle {

        @RateLimited(rate = "1/s", blockFor = "1m, 0, 1h")
        public void call() {}
    }

    static class NegativeWait {

        @RateLimited(rate = "1/s", maxWait = "-1s")
        public void call() {}
    }

    static class WaitingWindow {

        @RateLimited(rate = "1/s", maxWait = "1s", algorithm = Algorithm.FIXED_WINDOW)
        public void call() {}
    }

    static class RefilledWindow {

        @RateLimited(rate = "1/s", refill = Refill.INTERVAL, algorithm = Algorithm.FIXED_WINDOW)
        public void call() {}
    }

    static class UnevenWindow {

        @RateLimited(rate = "3/7s", capacity = 10, algorithm = Algorithm.SLIDING_WINDOW)
        public void call() {}
    }

    static class HugeLog {

        @RateLimited(rate = "1/s", capacity = 10_001, algorithm = Algorithm.SLIDING_WINDOW_LOG)
        public void call() {}
    }
}
