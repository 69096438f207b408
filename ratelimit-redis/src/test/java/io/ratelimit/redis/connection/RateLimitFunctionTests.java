package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitFunctionTests {

    private static final String MISSING = "ERR Function not found";

    private final LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.redis");

    /** The attempts to load it that a server has not answered, or has. */
    private final List<CompletableFuture<Void>> attempts = new ArrayList<>();

    private Duration time = Duration.ZERO;

    private final RateLimitFunction function =
            new RateLimitFunction(RateLimitLibrary.load(), this::attempt, () -> time.toNanos());

    private CompletableFuture<Void> attempt() {
        CompletableFuture<Void> attempt = new CompletableFuture<>();
        attempts.add(attempt);
        return attempt;
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void callsRunAsTheFunctionOnceItIsLoaded() {
        assertThat(function.isUsable()).isFalse();
        assertThat(function.isUsable()).isFalse();
        succeed();
        assertThat(function.isUsable()).isTrue();
        assertThat(attempts).hasSize(1);
        assertThat(log.text()).isEqualTo("INFO Calls run as the Redis function " + function.name());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ERR unknown command 'FCALL', with args beginning with: 'x' '-1'",
                "ERR unknown command `FCALL`, with args beginning with: `x`, `-1`, ",
                "unknown command 'FCALL'",
                "NOPERM this user has no permissions to run the 'fcall' command",
                "NOPERM User limiter has no permissions to run the 'function|load' command",
                "ERR Error registering functions: @user_function: 1: unexpected symbol"
            })
    void serverThatRefusesIsLeftAloneForALongTime(String reply) {
        function.isUsable();
        fail(reply);
        pass(Duration.ofMinutes(9));
        assertThat(function.isUsable()).isFalse();
        assertThat(attempts).hasSize(1);
        pass(Duration.ofMinutes(1));
        function.isUsable();
        fail(reply);
        assertThat(attempts).hasSize(2);
        assertThat(log.text())
                .isEqualTo("INFO Calls run as a script, because Redis does not run functions ("
                        + reply.replaceAll(", with args.*", "") + ")");
    }

    /** Each attempt fails the calls of others. The first may have met a connection that was lost by chance. */
    @Test
    void proxyThatClosesTheConnectionIsAskedTwice() {
        function.isUsable();
        lose();
        pass(Duration.ofSeconds(1));
        function.isUsable();
        attempts.get(1).completeExceptionally(new RedisException("Connection disconnected"));
        pass(Duration.ofDays(100));
        assertThat(function.isUsable()).isFalse();
        function.serverHasRestarted();
        assertThat(attempts).hasSize(2);
        assertThat(log.text())
                .endsWith("Calls run as a script, because the connection is closed if Redis is asked for functions");
    }

    @Test
    void connectionLostByChanceIsForgotten() {
        function.isUsable();
        lose();
        pass(Duration.ofSeconds(1));
        function.isUsable();
        succeed();
        assertThat(function.hasNotRun(new IllegalStateException(MISSING))).isTrue();
        pass(Duration.ofSeconds(10));
        function.isUsable();
        lose();
        pass(Duration.ofSeconds(1));
        function.isUsable();
        assertThat(attempts).hasSize(4);
    }

    private void lose() {
        attempts.get(attempts.size() - 1)
                .completeExceptionally(new RedisConnectionException("Connection lost before the answer"));
    }

    /** Such as a class of another version of the driver. */
    @Test
    void errorIsAnAttemptThatFailed() {
        int[] loads = {0};
        RateLimitFunction broken = new RateLimitFunction(
                RateLimitLibrary.load(),
                () -> {
                    loads[0]++;
                    throw new NoSuchMethodError("functionLoad");
                },
                () -> time.toNanos());
        assertThat(broken.isUsable()).isFalse();
        pass(Duration.ofSeconds(1));
        assertThat(broken.isUsable()).isFalse();
        assertThat(loads[0]).isEqualTo(2);
    }

    @Test
    void momentaryFailureIsRepeatedWithGrowingPauses() {
        for (int seconds : new int[] {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600}) {
            function.isUsable();
            fail("LOADING Redis is loading the dataset in memory");
            int before = attempts.size();
            pass(Duration.ofSeconds(seconds).minusMillis(1));
            function.isUsable();
            assertThat(attempts).hasSize(before);
            pass(Duration.ofMillis(1));
        }
        assertThat(log.lines()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                MISSING,
                "ERR unknown command 'fcall'",
                "NOPERM User x has no permissions to run the 'fcall' command"
            })
    void callThatHasNotRunIsForTheScript(String reply) {
        load();
        assertThat(function.hasNotRun(new IllegalStateException(reply))).isTrue();
        assertThat(function.hasNotRun(new IllegalStateException("wrapped", new IllegalStateException(reply))))
                .isTrue();
        assertThat(function.isUsable()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "OOM command not allowed when used memory > 'maxmemory'.",
                "READONLY You can't write against a read only replica.",
                "NOPERM this user has no permissions to access one of the keys used as arguments",
                "ERR ACL failure in script: User x has no permissions to run the 'time' command",
                "ERR Unknown Redis command called from script script: x, on @user_function:2.",
                "ERR user_function:2: attempt to index a nil value",
                "Command timed out"
            })
    void callThatMayHaveRunIsNot(String reply) {
        load();
        assertThat(function.hasNotRun(new IllegalStateException(reply))).isFalse();
        assertThat(function.isUsable()).isTrue();
    }

    @Test
    void libraryThatWasThereForLongIsLoadedAtOnce() {
        load();
        pass(Duration.ofMinutes(1));
        function.hasNotRun(new IllegalStateException(MISSING));
        function.isUsable();
        assertThat(attempts).hasSize(2);
        succeed();
        assertThat(function.isUsable()).isTrue();
    }

    @Test
    void libraryThatIsLostAgainAndAgainIsLoadedEverLessOften() {
        load();
        for (int seconds : new int[] {1, 2, 4, 8}) {
            function.hasNotRun(new IllegalStateException(MISSING));
            function.hasNotRun(new IllegalStateException(MISSING));
            pass(Duration.ofSeconds(seconds).minusMillis(1));
            assertThat(function.isUsable()).isFalse();
            pass(Duration.ofMillis(1));
            int before = attempts.size();
            function.isUsable();
            assertThat(attempts).hasSize(before + 1);
            succeed();
            assertThat(function.isUsable()).isTrue();
        }
    }

    @Test
    void restartedServerIsAskedAgain() {
        function.isUsable();
        fail("ERR unknown command 'FCALL'");
        function.serverHasRestarted();
        assertThat(attempts).hasSize(1);
        pass(Duration.ofSeconds(1));
        function.serverHasRestarted();
        function.serverHasRestarted();
        assertThat(attempts).hasSize(2);
        succeed();
        function.serverHasRestarted();
        assertThat(attempts).hasSize(2);
        assertThat(function.isUsable()).isTrue();
    }

    private void load() {
        function.isUsable();
        succeed();
        assertThat(function.isUsable()).isTrue();
    }

    private void succeed() {
        attempts.get(attempts.size() - 1).complete(null);
    }

    private void fail(String reply) {
        attempts.get(attempts.size() - 1).completeExceptionally(new IllegalStateException(reply));
    }

    private void pass(Duration duration) {
        time = time.plus(duration);
    }
}
