package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.redis.OtherConnectionFactory;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.testing.redis.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisConnection;

/** A Redis that forgets buckets when it is full is a reason for a warning. */
class EvictionPolicyWarningTests {

    private final RedisServer redis = new RedisServer();

    @AfterEach
    void stop() {
        redis.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "volatile-ttl", "volatile-random"})
    void policyThatEvictsBucketsIsNamedWithTheFix(String policy) {
        configure(policy, "100mb");
        assertThat(warnings())
                .hasSize(2)
                .allSatisfy(warning -> assertThat(warning)
                        .startsWith("Redis at limits.eu:6379 may evict buckets")
                        .contains("maxmemory-policy is " + policy)
                        .contains("Set maxmemory-policy to noeviction, or use a separate Redis"));
    }

    @ParameterizedTest
    @CsvSource({"noeviction, 100mb", "allkeys-lru, 0", "noeviction, 0"})
    void redisThatEvictsNothingIsFine(String policy, String memory) {
        configure(policy, memory);
        assertThat(warnings()).containsOnlyNulls();
    }

    @Test
    void redisThatDoesNotSayIsNoTrouble() {
        configure("allkeys-lru", "100mb");
        send("ACL", "SETUSER", "default", "-info");
        assertThat(warnings()).containsOnlyNulls();
        send("ACL", "SETUSER", "default", "+@all");
    }

    /** By each kind of driver. */
    private List<String> warnings() {
        return Stream.of(redis.connections(), new OtherConnectionFactory(redis.connections()))
                .map(connections -> EvictionPolicyWarning.warning(
                        new TemplateScriptExecutor(connections, RateLimitScript.load()), "limits.eu:6379"))
                .toList();
    }

    private void configure(String policy, String memory) {
        send("CONFIG", "SET", "maxmemory-policy", policy);
        send("CONFIG", "SET", "maxmemory", memory);
    }

    private void send(String command, String... arguments) {
        try (RedisConnection connection = redis.connections().getConnection()) {
            connection.execute(
                    command,
                    Stream.of(arguments)
                            .map(argument -> argument.getBytes(StandardCharsets.US_ASCII))
                            .toArray(byte[][]::new));
        }
    }
}
