package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.ratelimit.redis.connection.TextScriptExecutor.Digests;
import io.ratelimit.testing.LogRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.RedisSystemException;

class TextScriptExecutorTests {

    private final Digests digests = new Digests();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command 'EVALSHA', with args beginning with: 'f1' '1' 'bob'",
                "ERR unknown command `evalsha`",
                "ERR unsupported command 'evalsha'",
                "NOPERM this user has no permissions to run the 'evalsha' command",
                "NOPERM User limits has no permissions to run the 'evalsha' command",
                "ERR Command is not available: 'EVALSHA'",
                "ERR command 'evalsha' not support for normal user",
                "ERR EVALSHA is disabled"
            })
    void textIsSentOnceARefusalNamesTheDigest(String reply) {
        RuntimeException thrown =
                new RedisSystemException("Error in execution", new RedisCommandExecutionException(reply));
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis")) {
            assertThat(digests.areRefusedBy(thrown)).isTrue();
            assertThat(digests.areRefusedBy(thrown)).isTrue();
            assertThat(log.lines()).singleElement().asString().doesNotContain("bob");
        }
        assertThat(digests.areRefused()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOSCRIPT No matching script. Please use EVAL.",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "ERR unknown command 'EVAL', with args beginning with: 'evalsha' '1' 'evalsha'",
                "ERR Error running script (call to f_1): @user_script:1: 'evalsha' is no number",
                "ERR evalsha is no number script: f1, on @user_script:1."
            })
    void digestIsSentAgainAfterAnotherFailure(String reply) {
        assertThat(digests.areRefusedBy(new RedisCommandExecutionException(reply)))
                .isFalse();
        assertThat(digests.areRefused()).isFalse();
    }

    @Test
    void digestIsSentAgainAfterATimeout() {
        assertThat(digests.areRefusedBy(new RedisCommandTimeoutException("Command timed out after 100 milliseconds")))
                .isFalse();
    }
}
