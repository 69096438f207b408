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
                        "rate is missing.",
                        "Give the declaration a rate such as \"10/s\", or set ratelimit.limits.no-rate-call.rate in the configuration."),
                Arguments.of(
                        WrongRate.class,
                        "rate is wrong: 'ten per second' is not a rate.",
                        "Write it like \"10/s\", \"100/m\""),
                Arguments.of(
                        WrongPeriod.class,
                        "rate is wrong: '1/fortnight' is not a rate: 'fortnight' is not",
                        "Write it"),
                Arguments.of(
                        ZeroRate.class, "rate is wrong: a rate needs at least 1 permit.", "Write it like \"10/s\""),
                Arguments.of(
                        Unresolved.class,
                        "rate \"${acme.rate}\" has a placeholder that nothing resolves.",
                        "Set the property, or give it a default: \"${quotes.rate:10/s}\"."),
                Arguments.of(
                        EndlessRate.class,
                        "rate 1/PT23999999976H is out of range: its period is too long.",
                        "Use a period of 142 years or less."),
                Arguments.of(
                        InexactRate.class,
                        "rate 9007199254740881/7d cannot be carried exactly",
                        "Use a rate between 1 a year and 10 million a second, in rounder numbers."),
                Arguments.of(
                        NegativeCapacity.class,
                        "capacity -1 is out of range.",
                        "At the rate 1/s a capacity from 1 to 1000000000 is possible."),
                Arguments.of(
                        HugeCapacity.class,
                        "capacity 1000000001 is out of range.",
                        "At the rate 1/s a capacity from 1 to 1000000000 is possible."),
                Arguments.of(NegativeCost.class, "permits -1 is negative.", "Give what a call costs; 0 is free."),
                Arguments.of(
                        WrongWait.class,
                        "maxWait \"soon\" is not a duration.",
                        "Write it like \"500ms\", \"2s\" or \"PT2S\"."),
                Arguments.of(NegativeWait.class, "maxWait is negative.", "Give a duration such as \"500ms\"."),
                Arguments.of(
                        WaitingWindow.class,
                        "maxWait is set, but FIXED_WINDOW cannot reserve permits ahead.",
                        "Remove it, or use TOKEN_BUCKET with refill CONTINUOUS, or LEAKY_BUCKET."),
                Arguments.of(
                        RefilledWindow.class,
                        "refill is INTERVAL, but FIXED_WINDOW has no refill.",
                        "Remove it, or use TOKEN_BUCKET."),
                Arguments.of(
                        UnevenWindow.class,
                        "capacity 10 at the rate 3/7s gives a window of SLIDING_WINDOW that is not a whole number of"
                                + " microseconds.",
                        "Use a capacity that is a multiple of 3, up to "),
                Arguments.of(
                        HugeLog.class,
                        "capacity 10001 is out of range.",
                        "At the rate 1/s a capacity from 1 to 10000 is possible: a log may have an entry for each permit. SLIDING_WINDOW has none."));
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
                            .startsWith("A rate limit cannot work as it is declared.")
                            .contains("Where: " + type.getName() + ".call()")
                            .contains("What: " + what);
                    assertThat(analysis.getAction()).startsWith(fix);
                });
    }

    @ParameterizedTest
    @EnumSource
    void everyAlgorithmCanBeConfigured(Algorithm algorithm) {
        LimitedContexts.inMemory()
                .withBean(Sound.class)
                .withPropertyValues("ratelimit.limits.sound.algorithm=" + algorithm)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "rate=often, rate is wrong: 'often' is not a rate.",
        "capacity=-5, capacity -5 is out of range.",
        "max-wait=-1s, max-wait is negative.",
        "algorithm=fixed-window max-wait=500ms, 'max-wait is set, but FIXED_WINDOW cannot reserve permits ahead.'",
        "refill=interval max-wait=500ms, 'max-wait is set, but TOKEN_BUCKET with refill INTERVAL cannot reserve'",
        "algorithm=leaky-bucket refill=interval, 'refill is INTERVAL, but LEAKY_BUCKET has no refill.'",
        "algorithm=sliding-window-log capacity=10001, capacity 10001 is out of range.",
        "algorithm=sliding-window rate=3/7s capacity=4, capacity 4 at the rate 3/7s gives a window of SLIDING_WINDOW"
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
                        .contains("ratelimit.limits.exports.rate is wrong: 'often' is not a rate."));
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
