package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** A Redis that forgets buckets when it is full is a reason for a warning. */
@ExtendWith(OutputCaptureExtension.class)
class EvictionWarningTests {

    private static final String WARNING = "WARN io.ratelimit.redis.RedisConnector";

    private final OwnRedis redis = new OwnRedis();

    @AfterEach
    void stop() {
        redis.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"allkeys-lru", "volatile-ttl", "volatile-random"})
    void policyThatEvictsBucketsIsNamedWithTheFix(String policy, CapturedOutput output) {
        configure(policy, "100mb");
        prepare();
        assertThat(output.getOut().lines().filter(line -> line.contains(WARNING)))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("maxmemory-policy " + policy)
                        .contains("Set maxmemory-policy to noeviction, or use a Redis of its own"));
    }

    @ParameterizedTest
    @CsvSource({"noeviction, 100mb", "allkeys-lru, 0", "noeviction, 0"})
    void redisThatEvictsNothingIsFine(String policy, String memory, CapturedOutput output) {
        configure(policy, memory);
        prepare();
        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void redisThatDoesNotSayIsNoTrouble(CapturedOutput output) {
        configure("allkeys-lru", "100mb");
        send("ACL", "SETUSER", "default", "-info");
        prepare();
        assertThat(output).doesNotContain(WARNING).doesNotContain("Exception");
        send("ACL", "SETUSER", "default", "+@all");
    }

    /** As it is done at the start, by each kind of driver. */
    private void prepare() {
        Stream.of(redis.connections(), new OtherConnectionFactory(redis.connections()))
                .forEach(EvictionWarningTests::prepare);
    }

    private static void prepare(RedisConnectionFactory connections) {
        ConnectingExecutor executor = TemplateScriptExecutor.over(connections, RateLimitScript.load());
        executor.prepare();
        EvictionWarning.logIfNeeded(executor);
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
