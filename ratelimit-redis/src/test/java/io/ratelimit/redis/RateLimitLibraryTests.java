package io.ratelimit.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.RedisCallback;

class RateLimitLibraryTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    private final RateLimitLibrary library = RateLimitLibrary.load();

    private final String prefix = RedisUnderTest.newPrefix();

    @BeforeEach
    void load() {
        assumeTrue(BothWays.hasFunctions(redis.connections()), "Redis 6 has no functions");
        execute("FUNCTION", "LOAD", "REPLACE", library.text());
    }

    @AfterEach
    void delete() {
        if (BothWays.hasFunctions(redis.connections())) {
            execute("FUNCTION", "DELETE", library.name());
        }
    }

    @Test
    void functionRepliesWhatTheScriptReplies() {
        String[] arguments = {"1+1=", "T5@1/d", "2", "F3/d", "1", "S9/d", "2"};
        List<Long> byScript = redis.commands()
                .execute(RateLimitScript.load(), List.of(prefix + "a", prefix + "b", prefix + "c"), (Object[])
                        arguments);
        List<Long> byFunction = call(List.of(prefix + "d", prefix + "e", prefix + "f"), arguments);
        assertThat(byFunction).hasSize(16).startsWith(3L, 0L, 0L);
        // Times until the buckets are full again are those of different moments.
        for (int i = 0; i < byFunction.size(); i++) {
            assertThat(byFunction.get(i)).isCloseTo(byScript.get(i), within(60_000_000L));
        }
    }

    /** What a function keeps in memory outlives its run, other than what a script does. */
    @Test
    void runThatFailsLeavesNothingToTheNext() {
        String key = prefix + "failing";
        call(List.of(key), "1", "F5/d", "1");
        assertThatException()
                .isThrownBy(() -> call(List.of(key, key, key), "111", "F5/d", "1", "F5/d", "1", "no limit", "1"));
        assertThat(call(List.of(key), "1", "F5/d", "1")).hasSize(4).startsWith(3L);
    }

    @Test
    void moreLimitsThanAreKeptAreDecidedAlike() {
        for (int capacity = 1; capacity <= 1_200; capacity++) {
            call(List.of(prefix + capacity), "1", "F" + capacity + "/d", "1");
        }
        for (int capacity = 1; capacity <= 1_200; capacity += 100) {
            List<Long> reply = call(List.of(prefix + capacity), "0", "F" + capacity + "/d", "0");
            assertThat(reply).startsWith(capacity - 1L);
        }
    }

    @Test
    void nameIsOneThatRedisAllowsAndContainsADigest() {
        assertThat(library.name()).matches("ratelimit_[0-9a-f]{16}");
        assertThat(library.text()).startsWith("#!lua name=" + library.name() + "\n");
    }

    private List<Long> call(List<String> keys, String... arguments) {
        return redis.commands().execute((RedisCallback<List<Long>>) connection -> {
            RedisClusterAsyncCommands<byte[], byte[]> lettuce = lettuce(connection);
            return LettuceFutures.awaitOrCancel(
                    lettuce.fcall(library.name(), ScriptOutputType.MULTI, bytes(keys), bytes(List.of(arguments))),
                    10,
                    SECONDS);
        });
    }

    @SuppressWarnings("unchecked")
    private static RedisClusterAsyncCommands<byte[], byte[]> lettuce(RedisConnection connection) {
        return (RedisClusterAsyncCommands<byte[], byte[]>) connection.getNativeConnection();
    }

    private static byte[][] bytes(List<String> texts) {
        return texts.stream().map(text -> text.getBytes(UTF_8)).toArray(byte[][]::new);
    }

    private static Object execute(String command, String... arguments) {
        return redis.commands()
                .execute((RedisCallback<Object>) connection -> connection.execute(command, bytes(List.of(arguments))));
    }
}
