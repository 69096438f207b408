package io.ratelimit.redis.door;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.lettuce.core.RedisBusyException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisReadOnlyException;
import io.lettuce.core.cluster.PartitionSelectorException;
import io.lettuce.core.cluster.UnknownPartitionException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.TooManyClusterRedirectionsException;

/** What servers and drivers say, word by word, and what it means. */
class RedisFailureMapperTests {

    private static final String RUNNING =
            "ERR Error running script (call to f_9282fe9cd1ad17b421df71a1d74837df7d50241a):" + " @user_script:1: ";

    private static final String IN_SCRIPT = RUNNING + "@user_script: 1: ";

    private static final String AFTERWARDS = " script: 9282fe9cd1ad17b421df71a1d74837df7d50241a, on @user_script:1.";

    /** Named as Jedis names it, which is not here. */
    private static final class JedisDataException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        JedisDataException(String message) {
            super(message);
        }
    }

    /** The same. */
    private static final class JedisConnectionException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        JedisConnectionException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Of Redis 6.0, 6.2, 7.0, 8.0 and Valkey 8.1, to a command and to a script. */
    static Stream<Arguments> replies() {
        return Stream.of(
                        replies(
                                Reason.OUT_OF_MEMORY,
                                "OOM command not allowed when used memory > 'maxmemory'.",
                                IN_SCRIPT + "-OOM command not allowed when used memory > 'maxmemory'.",
                                "@user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.",
                                "OOM command not allowed when used memory > 'maxmemory'." + AFTERWARDS),
                        replies(
                                Reason.READ_ONLY,
                                "READONLY You can't write against a read only replica.",
                                IN_SCRIPT + "-READONLY You can't write against a read only replica.",
                                "READONLY You can't write against a read only replica." + AFTERWARDS,
                                IN_SCRIPT
                                        + "-MISCONF Redis is configured to save RDB snapshots, but it is currently not able to"
                                        + " persist on disk. Commands that may modify the data set are disabled, because this"
                                        + " instance is configured to report errors during writes if RDB snapshotting fails"
                                        + " (stop-writes-on-bgsave-error option). Please check the Redis logs for details about"
                                        + " the RDB error.",
                                "MISCONF Valkey is configured to save RDB snapshots, but it's currently unable to persist to"
                                        + " disk. Commands that may modify the data set are disabled, because this instance is"
                                        + " configured to report errors during writes if RDB snapshotting fails"
                                        + " (stop-writes-on-bgsave-error option). Please check the Valkey logs for details about"
                                        + " the RDB error." + AFTERWARDS,
                                "MISCONF Errors writing to the AOF file: No space left on device",
                                IN_SCRIPT + "-NOREPLICAS Not enough good replicas to write.",
                                "NOREPLICAS Not enough good replicas to write." + AFTERWARDS),
                        replies(
                                Reason.UNAUTHENTICATED,
                                "NOAUTH Authentication required.",
                                "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH"
                                        + " <user> <pass> option can be used to authenticate the client and select the RESP"
                                        + " protocol version at the same time",
                                "WRONGPASS invalid username-password pair",
                                "WRONGPASS invalid username-password pair or user is disabled."),
                        replies(
                                Reason.FORBIDDEN,
                                "NOPERM this user has no permissions to run the 'evalsha' command or its subcommand",
                                "NOPERM this user has no permissions to run the 'evalsha' command",
                                "NOPERM User limiter has no permissions to run the 'evalsha' command",
                                "NOPERM this user has no permissions to access one of the keys used as arguments",
                                "NOPERM No permissions to access a key",
                                IN_SCRIPT + "The user executing the script can't run this command or subcommand",
                                IN_SCRIPT
                                        + "The user executing the script can't access at least one of the keys mentioned in"
                                        + " the command arguments",
                                "ERR The user executing the script can't run this command or subcommand" + AFTERWARDS,
                                "ERR unknown command 'OOM', with args beginning with: 'x'",
                                "ERR unknown command `SCRIPT`, with args beginning with: `LOAD`, ",
                                "ERR Unknown Redis command called from script script: 1d, on @user_function:26.",
                                IN_SCRIPT + "Unknown Redis command called from script",
                                "ERR unsupported command 'script'",
                                "ERR ACL failure in script: User limiter has no permissions to run the 'set' command"
                                        + AFTERWARDS),
                        replies(
                                Reason.BUSY,
                                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                                "BUSY Valkey is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."),
                        replies(
                                Reason.LOADING,
                                "LOADING Redis is loading the dataset in memory",
                                "LOADING Valkey is loading the dataset in memory",
                                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
                        replies(
                                Reason.CLUSTER_DOWN,
                                "CLUSTERDOWN Hash slot not served",
                                "CLUSTERDOWN The cluster is down",
                                "CLUSTERDOWN The cluster is down and only accepts read commands"),
                        replies(
                                Reason.FOREIGN_VALUE,
                                "WRONGTYPE Operation against a key holding the wrong kind of value",
                                RUNNING + "WRONGTYPE Operation against a key holding the wrong kind of value",
                                "WRONGTYPE Operation against a key holding the wrong kind of value" + AFTERWARDS))
                .flatMap(some -> some);
    }

    private static Stream<Arguments> replies(Reason reason, String... texts) {
        return Stream.of(texts).map(text -> arguments(reason, text));
    }

    @ParameterizedTest
    @MethodSource("replies")
    void replyThroughLettuce(Reason reason, String text) {
        assertThat(reasonOf(new RedisSystemException("Error in execution", new RedisCommandExecutionException(text))))
                .isEqualTo(reason);
    }

    @ParameterizedTest
    @MethodSource("replies")
    void replyThroughJedis(Reason reason, String text) {
        assertThat(reasonOf(new InvalidDataAccessApiUsageException(text, new JedisDataException(text))))
                .isEqualTo(reason);
        assertThat(reasonOf(new JedisDataException(text))).isEqualTo(reason);
    }

    /** It is why there is no connection. */
    @ParameterizedTest
    @MethodSource("replies")
    void replyToTheHandshake(Reason reason, String text) {
        RedisConnectionException handshake = new RedisConnectionException(
                "Unable to connect to 127.0.0.1/<unresolved>:6379", new RedisCommandExecutionException(text));
        assertThat(reasonOf(new RedisConnectionFailureException("Unable to connect to Redis", handshake)))
                .isEqualTo(reason);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "BUSYGROUP Consumer Group name already exists",
                "BUSYKEY Target key name already exists.",
                "ERR FOREIGNER is unknown",
                "ERR BOOM",
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "ERR Script killed by user with SCRIPT KILL... script: 694a5fe1ddb97a4c6a1bf299d9537c7d3d0f84e7, on"
                        + " @user_script:1."
            })
    void replyThatIsNoneOfThese(String text) {
        assertThat(reasonOf(new RedisSystemException("Error in execution", new RedisCommandExecutionException(text))))
                .isEqualTo(Reason.ERROR);
    }

    static Stream<Arguments> drivers() {
        return Stream.of(
                arguments(Reason.BUSY, redis(new RedisBusyException("BUSY Redis is busy running a script."))),
                arguments(
                        Reason.READ_ONLY,
                        redis(new RedisReadOnlyException("READONLY You can't write against a read only replica."))),
                arguments(Reason.TIMEOUT, new TimeoutException()),
                arguments(Reason.TIMEOUT, new CompletionException(new TimeoutException())),
                arguments(
                        Reason.TIMEOUT,
                        new QueryTimeoutException(
                                "Redis command timed out",
                                new RedisCommandTimeoutException("Command timed out after 100 millisecond(s)"))),
                arguments(
                        Reason.UNREACHABLE,
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis",
                                new RedisConnectionException(
                                        "Unable to connect to 127.0.0.1/<unresolved>:6379",
                                        new ConnectException("Connection refused: /127.0.0.1:6379")))),
                arguments(
                        Reason.TIMEOUT,
                        new RedisConnectionFailureException(
                                "Unable to connect to Redis",
                                new RedisConnectionException(
                                        "Unable to connect to 127.0.0.1/<unresolved>:6379",
                                        new RedisCommandTimeoutException(
                                                "Connection initialization timed out after 500 millisecond(s)")))),
                arguments(
                        Reason.UNREACHABLE,
                        redis(new RedisException("Currently not connected. Commands are rejected."))),
                arguments(Reason.UNREACHABLE, redis(new RedisException("Connection is closed"))),
                arguments(Reason.UNREACHABLE, redis(new RedisException("Connection closed"))),
                arguments(Reason.UNREACHABLE, redis(new RedisException("Connection closed prematurely"))),
                arguments(Reason.UNREACHABLE, redis(new RedisException(new IOException("Connection reset by peer")))),
                arguments(
                        Reason.UNREACHABLE,
                        redis(new UnknownPartitionException(
                                "Connection to 127.0.0.1:7001 not allowed. This connection point is not known in the"
                                        + " cluster view."))),
                arguments(Reason.UNREACHABLE, new CancellationException()),
                arguments(
                        Reason.UNREACHABLE,
                        new JedisConnectionException(
                                "java.net.SocketException: Broken pipe", new SocketException("Broken pipe"))),
                arguments(
                        Reason.UNREACHABLE,
                        new TooManyClusterRedirectionsException(
                                "No more cluster attempts left.",
                                new JedisDataException("No more cluster attempts left."))),
                arguments(
                        Reason.UNREACHABLE, new InvalidDataAccessApiUsageException("Cluster retry deadline exceeded.")),
                arguments(
                        Reason.CLUSTER_DOWN,
                        redis(new PartitionSelectorException("Cannot determine a partition for slot 42.", null))),
                arguments(
                        Reason.OVERLOADED,
                        redis(new RedisException("Request queue size exceeded: 10000. Commands are not accepted until"
                                + " the queue size drops."))),
                arguments(
                        Reason.OVERLOADED,
                        redis(new RedisException("Internal stack size exceeded: 10000. Commands are not accepted until"
                                + " the stack size drops."))),
                arguments(
                        Reason.OVERLOADED,
                        redis(new RedisException("Command buffer size exceeded: 10000. Commands are not accepted until"
                                + " the queue size drops."))),
                arguments(Reason.OVERLOADED, new RejectedExecutionException("Task rejected")),
                arguments(Reason.ERROR, new IllegalArgumentException("what is this")),
                arguments(Reason.ERROR, new IllegalStateException((String) null)));
    }

    private static RedisSystemException redis(RedisException failure) {
        return new RedisSystemException("Redis exception", failure);
    }

    @ParameterizedTest
    @MethodSource("drivers")
    void whatTheDriverSays(Reason reason, Throwable failure) {
        assertThat(reasonOf(failure)).isEqualTo(reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LettuceConnectionFactory is STOPPING",
                "LettuceConnectionFactory has been STOPPED. Use start() to initialize it",
                "LettuceConnectionFactory was destroyed and cannot be used anymore",
                "JedisConnectionFactory has been STOPPED. Use start() to initialize it",
                "Client not yet initialized; Did you forget to call initialize the bean"
            })
    void endOfTheConnections(String text) {
        assertThat(reasonOf(new IllegalStateException(text))).isEqualTo(Reason.CLOSED);
    }

    @Test
    void messageHasTheServerAndWhatItSaid() {
        RedisSystemException failure =
                new RedisSystemException("Error in execution", new RedisCommandExecutionException("OOM no room"));
        assertThat(RedisFailureMapper.of("Redis at 10.0.0.1:6379", failure))
                .hasMessage("Redis at 10.0.0.1:6379: OOM no room")
                .hasCause(failure);
    }

    @Test
    void whatIsKnownAlreadyStaysAsItIs() {
        RateLimitStoreException known = new RateLimitStoreException(Reason.BUSY, "known", null);
        assertThat(RedisFailureMapper.of("Redis", known)).isSameAs(known);
        assertThat(RedisFailureMapper.of("Redis", new CompletionException(known)))
                .isSameAs(known);
    }

    private static Reason reasonOf(Throwable failure) {
        return RedisFailureMapper.of("Redis", failure).getReason();
    }

    @ParameterizedTest
    @MethodSource
    void failureTellsWhetherTheScriptHasNotRun(Exception failure, boolean hasNotRun) {
        assertThat(RedisFailureMapper.hasNotRun(RedisFailureMapper.of("Redis", failure)))
                .isEqualTo(hasNotRun);
    }

    @Test
    void failureAtTheEndTellsWhetherAChangeWasMade() {
        assertThat(RedisFailureMapper.hasNotChanged(closed(null))).isTrue();
        assertThat(RedisFailureMapper.hasNotChanged(closed(Reason.SHORT_CIRCUITED)))
                .isTrue();
        assertThat(RedisFailureMapper.hasNotChanged(closed(Reason.TIMEOUT))).isFalse();
        assertThat(RedisFailureMapper.hasNotChanged(new RateLimitStoreException(Reason.TIMEOUT, "Redis: silent", null)))
                .isFalse();
        assertThat(RedisFailureMapper.hasNotChanged(new IllegalStateException()))
                .isFalse();
    }

    private static RateLimitStoreException closed(Reason cause) {
        return new RateLimitStoreException(
                Reason.CLOSED,
                "closed",
                cause == null ? null : new RateLimitStoreException(cause, "Redis: failed", null));
    }

    static Stream<Arguments> failureTellsWhetherTheScriptHasNotRun() {
        return Stream.of(
                arguments(new RedisException("Currently not connected. Commands are rejected."), true),
                arguments(new RedisException("Connection is closed"), true),
                arguments(new RedisException("Connection closed"), false),
                arguments(new RedisConnectionException("Unable to connect to 127.0.0.1:6379"), true),
                arguments(
                        new RedisConnectionFailureException("closed", new ConnectException("Connection refused")),
                        true),
                arguments(new RedisCommandExecutionException("LOADING Redis is loading the dataset in memory"), true),
                arguments(new RedisReadOnlyException("READONLY You can't write against a read only replica."), true),
                arguments(new RedisBusyException("BUSY Redis is busy running a script."), true),
                arguments(
                        new RedisConnectionException(
                                "Unable to connect to 127.0.0.1:6379",
                                new RedisCommandTimeoutException(
                                        "Connection initialization timed out after 1 second(s)")),
                        true),
                arguments(new RateLimitStoreException(Reason.TIMEOUT, "Redis: not sent in time", null), true),
                arguments(new RedisCommandTimeoutException("Command timed out"), false),
                arguments(new TimeoutException(), false),
                arguments(new CancellationException(), false),
                arguments(new SocketException("Connection reset"), false),
                arguments(new RedisConnectionException("Connection closed prematurely"), false),
                arguments(new RedisCommandExecutionException(RUNNING + "attempt to index a nil value"), false));
    }
}
