package io.ratelimit.internal.change;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.LimitAttributes;
import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.internal.limit.Attribute;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An override that one instance writes is the same for the others. */
class OverrideCodecTests {

    private static final Duration MICRO = Duration.ofNanos(1_000);

    private final OverrideCodec codec = new OverrideCodec();

    static Stream<RateLimitOverride> overrides() {
        RateLimitOverride.Builder all = RateLimitOverride.builder()
                .capacity(50)
                .rate("20/s")
                .maxWait(Duration.ofSeconds(2))
                .blockFor(List.of(Duration.ofMinutes(1)))
                .enabled(false)
                .dryRun(true)
                .onStoreFailure(OnStoreFailure.REJECT);
        return Stream.of(
                        Stream.of(RateLimitOverride.builder(), all),
                        Stream.of(1L, 1_000_000_000L)
                                .map(capacity -> RateLimitOverride.builder().capacity(capacity)),
                        Stream.of("7", "3/500ms", "1/PT1M", "10000/month", "10 / s", "100%/s", "a=b c\n+é")
                                .map(rate -> RateLimitOverride.builder().rate(rate)),
                        Stream.of(Duration.ZERO, MICRO, Duration.ofDays(365))
                                .map(wait -> RateLimitOverride.builder().maxWait(wait)),
                        Stream.of(
                                        List.<Duration>of(),
                                        List.of(Duration.ZERO),
                                        List.of(MICRO),
                                        List.of(Duration.ofMinutes(1), Duration.ofMinutes(10), Duration.ofDays(365)))
                                .map(blocks -> RateLimitOverride.builder().blockFor(blocks)),
                        Stream.of(true, false)
                                .flatMap(flag -> Stream.of(
                                        RateLimitOverride.builder().enabled(flag),
                                        RateLimitOverride.builder().dryRun(flag))),
                        Arrays.stream(OnStoreFailure.values())
                                .map(policy -> RateLimitOverride.builder().onStoreFailure(policy)))
                .flatMap(builders -> builders)
                .map(RateLimitOverride.Builder::build);
    }

    @ParameterizedTest
    @MethodSource("overrides")
    void decodesWhatItEncodes(RateLimitOverride override) {
        String reply = "7 CHANGED 0 0\nlogins 5 0 " + codec.encode(override, "alice=b é");

        var read = codec.decode(reply).overrides().get("logins");

        assertThat(read.attributes()).isEqualTo(override);
        assertThat(read.principal()).isEqualTo("alice=b é");
    }

    @Test
    void everyAttributeIsTested() {
        assertThat(overrides().flatMap(override -> override.names().stream()))
                .containsAll(LimitAttributes.changeable().stream()
                        .map(Attribute::name)
                        .toList());
    }

    /** Instances of other versions, too, read a single zero as "never". */
    @Test
    void noBlockIsWrittenAsZero() {
        RateLimitOverride never =
                RateLimitOverride.builder().blockFor(List.of()).build();

        assertThat(codec.encode(never, null)).isEqualTo("block-for=PT0S");
        assertThat(never).hasToString("blockFor 0s");
    }
}
