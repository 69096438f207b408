package io.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.internal.limit.DurationText;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.convert.DurationStyle;

class DurationTextTests {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0s",
                "1ns",
                "1500ns",
                "100us",
                "500ms",
                "-100ms",
                "1001ms",
                "1s",
                "90s",
                "-1s",
                "1m",
                "90m",
                "1h",
                "25h",
                "1d",
                "366d",
                "1000000d",
                "-1000000d"
            })
    void isWrittenAsInAConfiguration(String text) {
        assertThat(DurationText.of(DurationStyle.detectAndParse(text))).isEqualTo(text);
    }

    @Test
    void unitIsTheLargestThatDividesIt() {
        assertThat(DurationText.of(Duration.parse("PT24000000H"))).isEqualTo("1000000d");
        assertThat(DurationText.of(Duration.parse("PT60M"))).isEqualTo("1h");
        assertThat(DurationText.of(Duration.parse("PT2.000S"))).isEqualTo("2s");
    }

    @Test
    void longestIsWrittenToo() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        assertThat(Duration.parse(DurationText.of(longest))).isEqualTo(longest);
        assertThat(DurationText.of(Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Long.MAX_VALUE + "s");
    }
}
