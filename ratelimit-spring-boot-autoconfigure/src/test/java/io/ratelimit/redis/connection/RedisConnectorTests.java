package io.ratelimit.redis.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisURI;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.redis.OtherConnectionFactory;
import io.ratelimit.redis.RateLimitLibrary;
import io.ratelimit.redis.RateLimitScript;
import io.ratelimit.redis.RedisTopology;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.redis.door.GuardedRedis;
import io.ratelimit.redis.script.ProbeScript;
import io.ratelimit.redis.script.ScriptCall;
import io.ratelimit.redis.script.ScriptCodec;
import io.ratelimit.spi.Charge;
import io.ratelimit.testing.redis.SharedRedis;
import io.ratelimit.testing.redis.StartedConnections;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Our connections are a copy of the application's, and leave those as they are. */
class RedisConnectorTests {

    @Test
    void applicationsConnectionsStayAsTheyAre() throws Exception {
        LettuceConnectionFactory users = usersConnections(3);
        RedisConnector connector =
                new RedisConnector(users, Duration.ofMillis(5), RateLimitScript.load(), RateLimitLibrary.load());
        connector.connect();
        connector.destroy();
        assertThat(users.isRunning()).isTrue();
        assertThat(users.getTimeout()).isEqualTo(7_000);
        assertThat(users.getClientConfiguration().getClientOptions())
                .get()
                .satisfies(options -> assertThat(options.getTimeoutOptions().isTimeoutCommands())
                        .isTrue());
        new StringRedisTemplate(users).hasKey("whatever");
        users.destroy();
    }

    @Test
    void databaseIsTheApplications() throws Exception {
        LettuceConnectionFactory users = usersConnections(3);
        RedisConnector connector =
                new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
        String key = RedisUnderTest.newPrefix();
        Charge charge = new Charge(RateLimit.named("quotes").rate("1/h").build(), null, 1);
        connector
                .execute(
                        List.of(key.getBytes(StandardCharsets.US_ASCII)),
                        new ScriptCodec().arguments(ScriptCall.CHARGE, List.of(charge)))
                .toCompletableFuture()
                .join();
        assertThat(new StringRedisTemplate(users).delete(key)).isTrue();
        connector.destroy();
        users.destroy();
    }

    @Test
    void connectionsOfAnotherKindAreUsedAsTheyAre() throws Exception {
        LettuceConnectionFactory users = usersConnections(0);
        RedisConnector connector = new RedisConnector(
                new OtherConnectionFactory(users),
                Duration.ofSeconds(10),
                RateLimitScript.load(),
                RateLimitLibrary.load());
        ProbeScript probe = new ProbeScript(RedisUnderTest.newPrefix(), new ScriptCodec());
        assertThat(connector
                        .execute(probe.names("any"), probe.arguments())
                        .toCompletableFuture()
                        .join())
                .hasSize(4);
        connector.destroy();
        assertThat(users.isRunning()).isTrue();
        users.destroy();
    }

    /** Of a proxy, such as one of a scope, the getters tell the servers. Its connections may have to connect again. */
    @Test
    void connectionsOfAProxyAreNotUsed() {
        LettuceConnectionFactory users = usersConnections(0);
        ProxyFactory proxy = new ProxyFactory(users);
        proxy.setProxyTargetClass(true);
        proxy.addAdvice((MethodInterceptor) invocation -> {
            assertThat(invocation.getMethod().getName()).isNotEqualTo("getConnection");
            return invocation.proceed();
        });
        RedisConnector connector = new RedisConnector(
                (LettuceConnectionFactory) proxy.getProxy(),
                Duration.ofSeconds(10),
                RateLimitScript.load(),
                RateLimitLibrary.load());
        ProbeScript probe = new ProbeScript(RedisUnderTest.newPrefix(), new ScriptCodec());
        assertThat(connector.execute(probe.names("any"), probe.arguments())).succeedsWithin(Duration.ofSeconds(60));
        connector.destroy();
        users.destroy();
    }

    /** The commands are those of the connection, which the driver opens again by itself. */
    @Test
    void callsGoOnAfterTheServerHasClosedTheConnection() {
        String name = "rl-" + System.nanoTime();
        LettuceConnectionFactory users = usersConnections(0, name);
        RedisConnector connector =
                new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
        connector.connect();
        ProbeScript probe = new ProbeScript(RedisUnderTest.newPrefix(), new ScriptCodec());
        new StringRedisTemplate(users)
                .getClientList().stream()
                        .filter(client -> name.equals(client.getName()))
                        .map(client -> RedisURI.create("redis://" + client.getAddressPort()))
                        .forEach(client ->
                                new StringRedisTemplate(users).killClient(client.getHost(), client.getPort()));
        await().untilAsserted(() -> assertThat(connector.execute(probe.names("any"), probe.arguments()))
                .succeedsWithin(Duration.ofSeconds(60)));
        connector.topology().reconnect(RedisTopology.REDIS);
        assertThat(connector.execute(probe.names("any"), probe.arguments())).succeedsWithin(Duration.ofSeconds(60));
        connector.destroy();
        users.destroy();
    }

    /** As a context that is stopped, and started again. */
    @Test
    void connectionsAreClosedByTheStopAndThereAgainAfterTheStart() {
        String name = "rl-" + System.nanoTime();
        LettuceConnectionFactory users = usersConnections(0, name);
        StringRedisTemplate redis = new StringRedisTemplate(users);
        RedisConnector connector =
                new RedisConnector(users, Duration.ofSeconds(10), RateLimitScript.load(), RateLimitLibrary.load());
        GuardedRedis guarded = new GuardedRedis(connector, Duration.ofSeconds(10), RedisUnderTest.newPrefix());
        connector.connect();
        assertThat(guarded.check()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(connections(redis, name)).isEqualTo(2);
        guarded.stop();
        connector.stop();
        await().until(() -> connections(redis, name) == 1);
        assertThat(guarded.check())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableThat()
                .withCauseInstanceOf(RateLimitStoreException.class);
        connector.start();
        guarded.start();
        assertThat(guarded.check()).succeedsWithin(Duration.ofSeconds(60));
        assertThat(connections(redis, name)).isEqualTo(2);
        guarded.destroy();
        connector.destroy();
        users.destroy();
    }

    /** Commands that are under way when it closes fail on its event loop, where the next call would wait for that loop to connect. */
    @Test
    void closedConnectionIsReplacedByReconnectOnly() {
        DedicatedConnections connections = connections();
        connections.connect();
        connections.resetConnection();
        assertThatThrownBy(() -> connections.getConnection().ping()).hasRootCauseMessage("Connection is closed");
        assertThat(connections.commands().ping().toCompletableFuture())
                .failsWithin(Duration.ofSeconds(60))
                .withThrowableOfType(ExecutionException.class);
        connections.reconnect();
        assertThat(connections.getConnection().ping()).isEqualTo("PONG");
        assertThat(connections.commands().ping().toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60));
        connections.stop();
        assertThatIllegalStateException().isThrownBy(connections::reconnect).withMessage("The connections are closed");
        connections.destroy();
    }

    /** Its thread is still busy with it. Netty logs an ERROR if the event loop ends meanwhile. */
    @Test
    void stopLetsAReconnectThatHasBegunEnd() throws Exception {
        DedicatedConnections connections = connections();
        CountDownLatch begun = new CountDownLatch(1);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Boolean> overAtStop = new CompletableFuture<>();
        Thread stopping = new Thread(() -> {
            connections.stop();
            overAtStop.complete(over.get());
        });
        connections.getNativeClient().getResources().eventExecutorGroup().next().execute(() -> {
            begun.countDown();
            await().until(() -> overAtStop.isDone() || isIn(stopping, "awaitReconnects"));
            over.set(true);
        });
        begun.await();
        stopping.start();
        assertThat(overAtStop).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(true);
        connections.destroy();
    }

    /** The handshake with a silent server takes five timeouts. */
    @Test
    void stopEndsTheWaitForAConnection() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            DedicatedConnections connections =
                    connections(silent.getInetAddress().getHostAddress(), silent.getLocalPort(), Duration.ofHours(1));
            CompletableFuture<Void> connected =
                    CompletableFuture.runAsync(connections::connect, task -> new Thread(task).start());
            try (Socket accepted = silent.accept()) {
                CompletableFuture<Void> stopped =
                        CompletableFuture.runAsync(connections::stop, task -> new Thread(task).start());
                assertThat(stopped).succeedsWithin(Duration.ofSeconds(60));
                assertThat(connected).failsWithin(Duration.ofSeconds(60)).withThrowableOfType(ExecutionException.class);
                assertThat(accepted.isConnected()).isTrue();
            }
            connections.destroy();
        }
    }

    private static DedicatedConnections connections() {
        return connections(SharedRedis.get().host(), SharedRedis.get().port(), Duration.ofSeconds(10));
    }

    private static DedicatedConnections connections(String host, int port, Duration timeout) {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(host, port);
        return DedicatedConnections.to(server, LettuceClientConfiguration.defaultConfiguration(), timeout);
    }

    private static boolean isIn(Thread thread, String method) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    private static long connections(StringRedisTemplate redis, String name) {
        return redis.getClientList().stream()
                .filter(client -> name.equals(client.getName()))
                .count();
    }

    private static LettuceConnectionFactory usersConnections(int database) {
        return usersConnections(database, "rl-test");
    }

    private static LettuceConnectionFactory usersConnections(int database, String name) {
        RedisStandaloneConfiguration server = new RedisStandaloneConfiguration(
                SharedRedis.get().host(), SharedRedis.get().port());
        server.setDatabase(database);
        return StartedConnections.to(
                server,
                LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofSeconds(7))
                        .clientName(name)
                        .build());
    }
}
