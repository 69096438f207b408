package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.script.BucketNaming;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestLimits;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A foreign value at a key of the starter is a store failure: it is neither decided by nor overwritten. */
class ForeignValueTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimit limit = TestLimits.tokenBucket("taken", 10, "10/h");

    private final RateLimit other = TestLimits.tokenBucket("other", 10, "10/h");

    private final RedisConnector connector = new RedisConnector(
            redis.connections(), Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());

    private final String prefix = RedisUnderTest.newPrefix();

    private final RateLimitStore store = TestStores.over(connector, prefix);

    private final String key = new String(new BucketNaming(prefix).name(limit, "secret"), StandardCharsets.UTF_8);

    private final StringRedisTemplate commands = redis.commands();

    @AfterEach
    void close() throws Exception {
        commands.delete(key);
        connector.destroy();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hello",
                "",
                "12345",
                "1:2",
                "T5@1/s",
                "T5@1/s:1",
                "T5@1/s:1:",
                "T5@1/s:1:2:x",
                "T5@1/s:1:2:3:4",
                "T5@1/s:-1:2",
                "T5@1/s:1.5:2",
                "T5@1/s:1e3:2",
                "T5@1/s:1:2 hello",
                "T5@1/s:1:2,",
                "T5@1/s:99999999999999999:1",
                "T5@1/s:1:99999999999999999",
                "T5@1/s:1:2:99999999999999999",
                "T5@1/s:1:2 T6@1/s:1:2 T7@1/s:1:2 T8@1/s:1:2",
                "T0@1/s:1:2",
                "T5@0/s:1:2",
                "T5@1/0s:1:2",
                "T5@1/y:1:2",
                "T5@99999999999999999999/s:1:2",
                "T5@1/99999999999999999999d:1:2",
                "T5/s:1:2",
                "F5@1/s:1:2",
                "X5/s:1:2",
                "+5"
            })
    void foreignString(String value) {
        commands.opsForValue().set(key, value, Duration.ofMinutes(1));
        assertRefused();
        assertThat(commands.opsForValue().get(key)).isEqualTo(value);
        assertThat(commands.getExpire(key)).isPositive();
    }

    @Test
    void foreignList() {
        commands.opsForList().rightPushAll(key, "a", "b");
        assertRefused();
        assertThat(commands.opsForList().range(key, 0, -1)).containsExactly("a", "b");
    }

    @Test
    void listOfEntriesWithoutAHead() {
        commands.opsForList().rightPushAll(key, "11795251352713710", "11795251352713711");
        assertRefused();
    }

    @Test
    void foreignHash() {
        commands.opsForHash().put(key, "field", "value");
        assertRefused();
        assertThat(commands.opsForHash().entries(key)).isEqualTo(Map.of("field", "value"));
    }

    private void assertRefused() {
        Charge charge = new Charge(limit, "secret", 1);
        Charge before = new Charge(other, "secret", 1);
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(() -> store.decide(StoreRequest.of(List.of(before, charge)))
                        .await()
                        .decisions())
                .satisfies(ex -> assertThat(ex.getReason()).isEqualTo(Reason.FOREIGN_VALUE))
                .withMessageNotContaining("secret");
        assertThatExceptionOfType(RateLimitStoreException.class)
                .isThrownBy(
                        () -> store.decide(StoreRequest.peek(charge)).await().decision());
        assertThat(store.decide(StoreRequest.of(List.of(charge))).toStage().thenApply(StoreOutcome::decisions))
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitStoreException.class);
        assertThat(store.decide(StoreRequest.peek(new Charge(other, "secret", 0)))
                        .await()
                        .decision()
                        .remaining())
                .isEqualTo(10);
    }
}
