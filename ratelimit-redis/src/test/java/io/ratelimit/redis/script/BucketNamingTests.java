package io.ratelimit.redis.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.ClusterSlot;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.TestRandom;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class BucketNamingTests {

    private static final RateLimit QUOTES = TestLimits.tokenBucket("quotes", 1, "1/s");

    private static final List<RateLimit> LIMITS = List.of(
            QUOTES, TestLimits.tokenBucket("quotes2", 1, "1/s"), TestLimits.fixedWindow("Slow-Reports", 1, "1/h"));

    private final BucketNaming keys = new BucketNaming("ratelimit");

    @ParameterizedTest
    @CsvSource({
        "alice, ratelimit:{alice}:quotes",
        "a:b/c?d=e, ratelimit:{a:b/c?d=e}:quotes",
        "2001:db8::1, ratelimit:{2001:db8::1}:quotes"
    })
    void plainKeyIsLegible(String key, String name) {
        assertThat(name(QUOTES, key)).isEqualTo(name);
    }

    @Test
    void whatCouldBreakTheTagIsEscaped() {
        assertThat(name(QUOTES, "}{ %\r\n\0\u00e9\u4e16\ud83d\ude00"))
                .isEqualTo("ratelimit:{%7D%7B%20%25%0D%0A%00%E9%u4E16%uD83D%uDE00}:quotes");
    }

    @ParameterizedTest
    @MethodSource("awkwardKeys")
    void limitsOfOneKeyShareASlotWhateverTheKey(String key) {
        List<Integer> slots = LIMITS.stream()
                .map(limit -> ClusterSlot.of(keys.name(limit, key)))
                .distinct()
                .toList();
        assertThat(slots).hasSize(1);
        assertThat(keys.name(QUOTES, key)).hasSizeLessThan(1_000);
    }

    static Stream<String> awkwardKeys() {
        return Stream.of(
                null,
                "",
                "{",
                "}",
                "{}",
                "}{",
                "}{}{",
                "a}b",
                "%",
                "%-",
                "%25",
                " ",
                "\r\n",
                "\0",
                "\ud800",
                "\udc00x",
                "\uffff",
                "ключ",
                "😀",
                "x".repeat(128),
                "{".repeat(128),
                "x".repeat(129),
                "}".repeat(1 << 20));
    }

    @Test
    void awkwardKeysAreToldApart() {
        List<String> names = awkwardKeys().map(key -> name(QUOTES, key)).toList();
        assertThat(names).doesNotHaveDuplicates();
    }

    @Test
    void noTwoPairsShareAName() {
        Random random = TestRandom.create(getClass());
        Map<String, String> pairs = new HashMap<>();
        for (int i = 0; i < 50_000; i++) {
            RateLimit limit = LIMITS.get(random.nextInt(LIMITS.size()));
            String key = randomKey(random);
            String pair = limit.id() + " " + key;
            assertThat(pairs.putIfAbsent(name(limit, key), pair)).isIn(null, pair);
        }
    }

    /** Of few characters, those that escapes are made of among them, so that keys are often almost the same. */
    private static String randomKey(Random random) {
        String characters = "%u0247DBx{}:\ud800\udc00\u00ff\u0100 -";
        StringBuilder key = new StringBuilder(random.nextInt(10) == 0 ? "y".repeat(random.nextInt(140)) : "");
        for (int length = random.nextInt(6); length >= 0; length--) {
            key.append(characters.charAt(random.nextInt(characters.length())));
        }
        return key.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "{", "a}b", "{tag}"})
    void prefixThatWouldUndoTheTagIsRefused(String prefix) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new BucketNaming(prefix))
                .withMessageContaining("ratelimit.redis.key-prefix");
    }

    private String name(RateLimit limit, String key) {
        return new String(keys.name(limit, key), StandardCharsets.UTF_8);
    }
}
