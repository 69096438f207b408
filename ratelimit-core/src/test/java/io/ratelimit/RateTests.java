package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.internal.limit.RateSuggestion;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RateTests {

    @ParameterizedTest
    @CsvSource({
        "10, 10, PT1S",
        "10/s, 10, PT1S",
        "100/m, 100, PT1M",
        "1000/h, 1000, PT1H",
        "1/d, 1, P1D",
        "5/10s, 5, PT10S",
        "3/500ms, 3, PT0.5S",
        "7/11us, 7, PT0.000011S",
        "1/PT1M, 1, PT1M",
        "2/P2DT3H, 2, P2DT3H",
        "1/pt0.5s, 1, PT0.5S",
        "' 10 / 5S ', 10, PT5S",
        "10/MS, 10, PT0.001S",
        "007/s, 7, PT1S",
        "999999999999999999/s, 999999999999999999, PT1S"
    })
    void syntax(String text, long permits, Duration period) {
        assertThat(Rate.parse(text)).isEqualTo(new Rate(permits, period));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "fast",
                "/s",
                "10/",
                "10/x",
                "10/s/s",
                "10 5/s",
                "10/5 s",
                "-1/s",
                "+1/s",
                "1.5/s",
                "1e3/s",
                "1,000/s",
                "10s",
                "10/-5s",
                "10/PT",
                "10/P1Y",
                "10/1w",
                "${rate}",
                "١٠/s",
                "1000000000000000000/s",
                "1/1000000000000000000s",
                "1/999999999999999999d",
                "1/PT99999999999999999999S",
                "0/s",
                "0",
                "1/0s",
                "1/PT0S",
                "1/PT-1S",
                "1/PT0.0000001S",
                "1/PT1.0000005S"
            })
    void garbage(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Rate.parse(text));
    }

    @Test
    void garbageIsQuoted() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("fast"))
                .withMessage("rate must be permits per period (was \"fast\")");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Rate.parse("1/x"))
                .withMessage("rate must have a duration as its period (was \"1/x\")");
    }

    @ParameterizedTest
    @CsvSource({
        "1.5/s, 3/2s",
        "0.5/m, 1/2m",
        "2.0/s, 2/s",
        "1.50 / 10 s, 3/20s",
        "1.5, 3/2s",
        "10/sec, 10/s",
        "10/5 s, 10/5s",
        "100 per minute, 100/m",
        "5 an hour, 5/h",
        "20/30 Seconds, 20/30s",
        "3/millisecond, 3/ms",
        "2/days, 2/d"
    })
    void likelyMeaningIsSuggested(String text, String suggestion) {
        assertThatIllegalArgumentException().isThrownBy(() -> Rate.parse(text));
        assertThat(RateSuggestion.of(text)).contains(suggestion);
        assertThat(Rate.parse(suggestion)).hasToString(suggestion);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "fast", "10/fortnight", "10/0s", "0.0/s", "1,000/s", "-1/s", "${rate}/s", "10/s/s", "1e3/s"})
    void nothingIsSuggestedForWhatIsLikeNoRate(String text) {
        assertThat(RateSuggestion.of(text)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "60/60s, 60/m",
        "10, 10/s",
        "1/PT90S, 1/90s",
        "3/1000us, 3/ms",
        "5/24h, 5/d",
        "5/36h, 5/36h",
        "1/P7D, 1/7d"
    })
    void legible(String text, String legible) {
        assertThat(Rate.parse(text)).hasToString(legible);
    }

    @Test
    void isParsedAsItIsPrinted() {
        Random random = TestRandom.create(getClass());
        for (int i = 0; i < 1_000; i++) {
            Rate rate = new Rate(
                    TestRandom.logarithmic(random, 1, 1_000_000_000_000L),
                    Duration.ofNanos(1_000 * TestRandom.logarithmic(random, 1, 1_000_000_000_000L)));
            assertThat(Rate.parse(rate.toString())).isEqualTo(rate);
        }
    }

    @Test
    void printsEvenWhatNoLimitCanHave() {
        assertThat(Rate.parse("1/PT9223372036854775807S").toString()).startsWith("1/");
    }
}
