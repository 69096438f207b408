package io.ratelimit.redis.script;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisProcess;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** {@code ratelimit.redis.hash-keys}: what a Redis is told of callers. */
@Timeout(180)
class HashedKeysTests {

    private static final String NAME = "alice.liddell@example.com";

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.quotes.rate=2/h",
                    "ratelimit.limits.leased.rate=200/h",
                    "ratelimit.limits.leased.lease=10");

    /** The server's log at the level of each command is what MONITOR shows, and it keeps the order. */
    @ParameterizedTest
    @CsvSource({"false,,true", "true,,false", "true,pepper,false"})
    void redisGetsNoPartOfAKey(boolean hashed, String secret, boolean seen) {
        try (RedisProcess redis = RedisProcess.server("slowlog-log-slower-than 0", "slowlog-max-len 10000")) {
            application
                    .withPropertyValues(
                            "ratelimit.redis.url=redis://" + redis.address(), "ratelimit.redis.hash-keys=" + hashed)
                    .withPropertyValues(
                            secret == null
                                    ? new String[0]
                                    : new String[] {"ratelimit.redis.hash-keys-secret=" + secret})
                    .run(context -> {
                        RateLimiterRegistry limits = context.getBean(RateLimiterRegistry.class);
                        RateLimiter quotes = limits.get("quotes");
                        assertThat(Stream.generate(() -> quotes.tryAcquire(NAME))
                                        .limit(3))
                                .extracting(RateLimitDecision::allowed)
                                .containsExactly(true, true, false);
                        quotes.reset(NAME);
                        assertThat(quotes.tryAcquire(NAME).allowed()).isTrue();
                        assertThat(limits.get("leased").tryAcquire(NAME).allowed())
                                .isTrue();
                    });
            String told = redis.send("SLOWLOG", "GET", -1) + " " + redis.send("KEYS", "*");
            assertThat(told.toLowerCase(Locale.ROOT)).contains("quotes", "leased", "del");
            assertThat(Stream.of(NAME, "alice", "liddell", "example.com").anyMatch(told::contains))
                    .isEqualTo(seen);
        }
    }

    @Test
    void hashesOfDifferentKeysAndSecretsDiffer() {
        Set<String> names = new HashSet<>();
        for (KeyHash hash :
                Arrays.asList(KeyHash.OF_ALL_KEYS, KeyHash.withSecret("salt"), KeyHash.withSecret("pepper"))) {
            for (String key : Arrays.asList("alice", "Alice", "\ud800", "\udc00", "", null)) {
                names.add(new String(
                        new BucketNaming("p", hash).name(TestLimits.tokenBucket("quotes", 1, "1/s"), key),
                        StandardCharsets.UTF_8));
            }
        }
        assertThat(names).hasSize(3 * 4 + 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "ratelimit.redis.hash-keys=false"})
    void secretAloneStopsTheStartUp(String property) {
        application
                .withPropertyValues(
                        "ratelimit.redis.url=redis://localhost:1", "ratelimit.redis.hash-keys-secret=pepper", property)
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("ratelimit.redis.hash-keys-secret must not be set without"));
    }
}
