package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimit;
import io.ratelimit.redis.connection.RedisConnector;
import io.ratelimit.redis.store.TestStores;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.ParallelCalls;
import io.ratelimit.testing.TestLimits;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.StartedConnections;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Calls run as a function where the server has and permits it, and as a script everywhere else, without a failure. */
@Timeout(180)
@DisabledIf(value = "io.ratelimit.testing.redis.RedisProcess#isBefore7", disabledReason = "has no functions")
class RedisFunctionTests {

    private static final int THREADS = 32;

    private static final int CALLS = 250;

    private static RedisProcess server;

    private final RateLimitLibrary library = RateLimitLibrary.load();

    private final LogRecorder log = new LogRecorder("io.ratelimit.redis");

    private final String prefix = "ratelimit:" + RedisUnderTest.newPrefix();

    @BeforeAll
    static void start() {
        server = RedisProcess.server();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void forget() {
        server.send("FUNCTION", "FLUSH");
        server.send("SCRIPT", "FLUSH");
        server.send("CONFIG", "RESETSTAT");
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void everyCallIsOneFunction() throws Exception {
        with(server, "default", store -> {
            take(store, 5);
            store.decide(StoreRequest.of(List.of(new Charge(limit(10), "alice", 1))))
                    .toStage()
                    .toCompletableFuture()
                    .join();
            store.decide(StoreRequest.peek(new Charge(limit(10), "alice", 1)))
                    .await()
                    .decision();
            assertThat(calls(server, "fcall")).isEqualTo(7);
            assertThat(scripts(server)).isZero();
        });
        assertThat(lines()).containsExactly("Calls run as the Redis function " + library.name());
    }

    /** Without settlements of another class of this JVM that are counted as lost meanwhile. */
    private List<String> lines() {
        return log.lines().stream()
                .filter(line -> !line.startsWith("Settlements of calls lost"))
                .toList();
    }

    @Test
    void instancesShareTheLibrary() throws Exception {
        with(
                server,
                "default",
                store -> with(server, "default", other -> {
                    take(store, 1);
                    take(other, 1);
                    assertThat(calls(server, "function|load")).isEqualTo(1);
                    assertThat(calls(server, "fcall")).isEqualTo(2);
                }));
    }

    @Test
    void versionsLiveSideBySide() throws Exception {
        String other = "ratelimit_0123456789abcdef";
        server.send("FUNCTION", "LOAD", library.text().replace(library.name(), other));
        with(server, "default", store -> {
            take(store, 1);
            String key = ((List<?>) server.send("KEYS", prefix + "*")).get(0).toString();
            List<?> reply = (List<?>) server.send("FCALL", other, 1, key, "1", "T10@1/h", "1");
            assertThat(reply).first().isEqualTo(8L);
            assertThat(store.decide(StoreRequest.peek(new Charge(limit(10), "alice", 1)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(8);
        });
        assertThat(server.send("FUNCTION", "LIST").toString()).contains(library.name(), other);
    }

    /** Exactly the permits are handed out, so no call was charged twice, and none failed. */
    @LongRunning
    @Test
    void flushedFunctionsFailNoCallAndComeBack() throws Exception {
        RateLimit limit = limit(THREADS * CALLS / 2);
        with(server, "default", store -> {
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Void> flushes = CompletableFuture.runAsync(() -> {
                while (!over.get()) {
                    server.send("FUNCTION", "FLUSH");
                    server.send("SCRIPT", "FLUSH");
                }
            });
            try {
                assertThat(ParallelCalls.countAllowed(
                                THREADS,
                                CALLS,
                                thread -> () -> store.decide(new Charge(limit, "alice", 1))
                                        .await()
                                        .decision()
                                        .allowed()))
                        .isEqualTo(limit.capacity());
            } finally {
                over.set(true);
            }
            flushes.join();
            // A library that is lost again and again is loaded after ever longer pauses, or when the scripts are lost,
            // too.
            await().atMost(Duration.ofSeconds(60)).until(() -> {
                server.send("SCRIPT", "FLUSH");
                return runsAsFunction(server, store);
            });
        });
    }

    @Test
    void restartedServerGetsItAgain() throws Exception {
        try (RedisProcess forgetful = RedisProcess.server()) {
            with(forgetful, "default", store -> {
                take(store, 1);
                forgetful.kill();
                forgetful.start();
                forgetful.awaitAnswer();
                await().ignoreExceptions().until(() -> take(store, 1));
                awaitFunction(forgetful, store);
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rename-command FCALL \"\"", "rename-command FUNCTION \"\""})
    void serverWithoutFunctionsRunsTheScript(String setting) throws Exception {
        try (RedisProcess old = RedisProcess.server(setting)) {
            with(old, "default", store -> {
                take(store, 5);
                assertThat(scripts(old)).isEqualTo(5);
                assertThat(calls(old, "function|load")).isZero();
            });
        }
        assertThat(lines()).singleElement().asString().startsWith("Calls run as a script, because");
    }

    @Test
    void documentedPermissionsAreEnough() throws Exception {
        permit(DocumentedAcl.functionRules());
        with(server, "limited", store -> {
            take(store, 5);
            assertThat(calls(server, "fcall")).isEqualTo(5);
            assertThat(calls(server, "function|load")).isEqualTo(1);
        });
    }

    static List<String> permissions() {
        return DocumentedAcl.functionRules();
    }

    @ParameterizedTest
    @MethodSource("permissions")
    void userWithoutPermissionRunsTheScript(String permission) throws Exception {
        permit(DocumentedAcl.without(permission, DocumentedAcl.functionRules()));
        with(server, "limited", store -> {
            take(store, 5);
            assertThat(scripts(server)).isEqualTo(5);
        });
        assertThat(lines()).singleElement().asString().startsWith("Calls run as a script, because");
    }

    @Test
    void userWithoutPermissionToLoadRunsWhatIsLoaded() throws Exception {
        permit(List.of("+fcall"));
        server.send("FUNCTION", "LOAD", library.text());
        with(server, "limited", store -> {
            take(store, 5);
            assertThat(calls(server, "fcall")).isEqualTo(5);
        });
    }

    @Test
    void permissionThatIsLostIsNoFailure() throws Exception {
        permit(DocumentedAcl.functionRules());
        with(server, "limited", store -> {
            take(store, 1);
            server.send("ACL", "SETUSER", "limited", "-fcall");
            assertThat(take(store, 3)).isTrue();
            assertThat(store.decide(StoreRequest.peek(new Charge(limit(10), "alice", 1)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(6);
        });
    }

    /** Besides what every user needs. */
    private static void permit(List<String> more) {
        server.send(Stream.of(
                        Stream.of("ACL", "SETUSER", "limited", "reset"),
                        DocumentedAcl.rules().stream(),
                        Stream.of("+evalsha"),
                        more.stream())
                .flatMap(words -> words)
                .toArray());
    }

    private static RateLimit limit(long capacity) {
        return TestLimits.tokenBucket("limit-" + capacity, capacity, "1/h");
    }

    private boolean take(RateLimitStore store, int calls) {
        boolean allowed = true;
        for (int call = 0; call < calls; call++) {
            allowed &= store.decide(new Charge(limit(10), "alice", 1))
                    .await()
                    .decision()
                    .allowed();
        }
        return allowed;
    }

    private void awaitFunction(RedisProcess redis, RateLimitStore store) {
        await().atMost(Duration.ofSeconds(60)).until(() -> runsAsFunction(redis, store));
    }

    private boolean runsAsFunction(RedisProcess redis, RateLimitStore store) {
        long before = calls(redis, "fcall");
        long failed = redis.errors("ERR");
        store.decide(StoreRequest.peek(new Charge(limit(10), "alice", 1)))
                .await()
                .decision();
        return calls(redis, "fcall") == before + 1 && redis.errors("ERR") == failed;
    }

    private static long scripts(RedisProcess redis) {
        return calls(redis, "evalsha") + calls(redis, "eval");
    }

    /** Failed attempts to call it, such as those that look for it, do not count. */
    private static long calls(RedisProcess redis, String command) {
        return ((String) redis.send("INFO", "commandstats"))
                .lines()
                .filter(line -> line.startsWith("cmdstat_" + command + ":"))
                .mapToLong(line -> number(line, "calls") - number(line, "failed_calls"))
                .sum();
    }

    private static long number(String line, String name) {
        return Long.parseLong(line.replaceAll(".*[:,]" + name + "=(\\d+).*", "$1"));
    }

    private void with(RedisProcess redis, String user, Use use) throws Exception {
        RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(RedisProcess.HOST, redis.port());
        if (!user.equals("default")) {
            configuration.setUsername(user);
            configuration.setPassword(DocumentedAcl.PASSWORD);
        }
        LettuceConnectionFactory users = StartedConnections.to(configuration);
        RedisConnector connector = new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), library);
        try {
            connector.connect();
            use.use(TestStores.over(connector, prefix));
        } finally {
            connector.destroy();
            users.destroy();
        }
    }

    private interface Use {

        void use(RateLimitStore store) throws Exception;
    }
}
