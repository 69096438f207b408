package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisCluster;
import io.ratelimit.testing.redis.RedisProcess;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.TestCertificate;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** {@code ratelimit.redis.url} and the other properties of a Redis for rate limits alone, and of a further server by its name. */
@LongRunning
@Timeout(180)
class RedisUrlPropertyTests {

    private static final String PASSWORD = "sesame";

    private static RedisServer redis;

    /** The default server of limits that are in another one. */
    private static RedisServer other;

    /** Knows a user with a password besides. */
    private static RedisServer guarded;

    private static TestCertificate certificate;

    private final String prefix = RedisUnderTest.newPrefix();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class, SslAutoConfiguration.class))
            .withPropertyValues(
                    "ratelimit.redis.key-prefix=" + prefix,
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.on-store-failure=throw",
                    "ratelimit.limits.quotes.rate=2/h");

    @BeforeAll
    static void start(@TempDir Path directory) throws Exception {
        redis = new RedisServer();
        other = new RedisServer();
        guarded = new RedisServer();
        DocumentedAcl.setUser(
                guarded.connections(),
                Stream.concat(DocumentedAcl.rules().stream(), Stream.of("~*", "+select", "+client|setname"))
                        .toList());
        guarded.send("CONFIG", "SET", "requirepass", PASSWORD);
        certificate = TestCertificate.create(directory, "redis");
    }

    @AfterAll
    static void stop() {
        redis.close();
        other.close();
        guarded.close();
    }

    @Test
    void urlIsEnough() {
        assertCountedIn(redis, 0, "ratelimit.redis.url=redis://127.0.0.1:" + redis.port());
    }

    @Test
    void hostAndPortAreEnough() {
        assertCountedIn(redis, 0, "ratelimit.redis.host=127.0.0.1", "ratelimit.redis.port=" + redis.port());
    }

    @Test
    void urlHasUserPasswordAndDatabase() {
        assertCountedIn(
                guarded,
                3,
                "ratelimit.redis.url=redis://" + DocumentedAcl.USER + ":" + DocumentedAcl.PASSWORD + "@127.0.0.1:"
                        + guarded.port() + "/3");
    }

    @Test
    void propertiesCompleteAUrlWithoutCredentials() {
        assertCountedIn(
                guarded,
                0,
                "ratelimit.redis.url=redis://127.0.0.1:" + guarded.port(),
                "ratelimit.redis.password=" + PASSWORD);
    }

    @Test
    void userPasswordDatabaseAndClientNameAreSent() {
        assertCountedIn(
                guarded,
                2,
                "ratelimit.redis.host=127.0.0.1",
                "ratelimit.redis.port=" + guarded.port(),
                "ratelimit.redis.username=" + DocumentedAcl.USER,
                "ratelimit.redis.password=" + DocumentedAcl.PASSWORD,
                "ratelimit.redis.database=2",
                "ratelimit.redis.client-name=limits");
    }

    @Test
    void emptyUserAndPasswordAreNone() {
        assertCountedIn(
                redis,
                0,
                "ratelimit.redis.host=127.0.0.1",
                "ratelimit.redis.port=" + redis.port(),
                "ratelimit.redis.username=${NO_SUCH_USER:}",
                "ratelimit.redis.password=${NO_SUCH_PASSWORD:}");
    }

    @Test
    void serverThatTheBundleTrustsIsUsed() throws Exception {
        try (FaultyProxy proxy = new FaultyProxy(redis.port(), certificate)) {
            assertCountedIn(
                    redis,
                    0,
                    "ratelimit.redis.host=127.0.0.1",
                    "ratelimit.redis.port=" + proxy.port(),
                    "ratelimit.redis.ssl.bundle=limits",
                    "spring.ssl.bundle.pem.limits.truststore.certificate="
                            + certificate.pem().toUri());
            assertCountedIn(
                    redis,
                    1,
                    "ratelimit.redis.url=rediss://127.0.0.1:" + proxy.port() + "/1",
                    "ratelimit.redis.ssl.bundle=limits",
                    "spring.ssl.bundle.pem.limits.truststore.certificate="
                            + certificate.pem().toUri());
        }
    }

    @Test
    void sentinelNamesTheMaster() {
        try (RedisProcess sentinel = RedisProcess.sentinel(
                "sentinel monitor shop 127.0.0.1 " + guarded.port() + " 1", "sentinel auth-pass shop " + PASSWORD)) {
            sentinel.send("ACL", "SETUSER", "default", "resetpass", ">watchword");
            assertCountedIn(
                    guarded,
                    1,
                    "ratelimit.redis.sentinel.master=shop",
                    "ratelimit.redis.sentinel.nodes=" + sentinel.address(),
                    "ratelimit.redis.sentinel.password=watchword",
                    "ratelimit.redis.password=" + PASSWORD,
                    "ratelimit.redis.database=1");
        }
    }

    @Test
    void nodesNameTheCluster() {
        try (RedisCluster cluster = RedisCluster.undisturbed()) {
            LettuceConnectionFactory users = cluster.connect();
            try {
                run(
                        users,
                        cluster.properties().get(0).replace("spring.data.redis.", "ratelimit.redis."),
                        "ratelimit.redis.cluster.max-redirects=3");
            } finally {
                users.destroy();
            }
        }
    }

    @Test
    void furtherServerIsReachedByAConnectionFactory() {
        LettuceConnectionFactory users = redis.connections();
        runNamed(
                users,
                new String[] {"ratelimit.redis.connection-factory=eu-connections"},
                application.withBean("eu-connections", RedisConnectionFactory.class, () -> users));
    }

    @Test
    void unknownConnectionFactoryOfAFurtherServerStopsTheStartUp() {
        application
                .withBean("sessions", RedisConnectionFactory.class, redis::connections)
                .withPropertyValues(
                        "ratelimit.redis.url=redis://127.0.0.1:" + other.port(),
                        "ratelimit.redis.eu.connection-factory=session",
                        "ratelimit.limits.quotes.redis=eu")
                .run(
                        context -> assertThat(LimitedContexts.analysis(context).getDescription())
                                .contains(
                                        "ratelimit.redis.eu.connection-factory must be the name of a RedisConnectionFactory bean (was \"session\")."));
    }

    @Test
    void applicationsConnectionIsNotTouched() {
        application
                .withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + redis.port())
                .run(context -> {
                    assertLimits(context);
                    assertThat(context).hasSingleBean(RedisConnectionFactory.class);
                });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    url=htp://user:secret@nowhere | ratelimit.redis.url must be a Redis URL (was "htp://…@nowhere").
                    sentinel.master=shop | ratelimit.redis.sentinel must have a master and nodes.
                    sentinel.nodes=a:1 | ratelimit.redis.sentinel must have a master and nodes.
                    cluster.max-redirects=3 | ratelimit.redis.cluster must have nodes.
                    cluster.nodes=a:b | ratelimit.redis.cluster.nodes must name each node as host:port (was "a:b").
                    """)
    void mistakesStopTheStartUp(String property, String problem) {
        application.withPropertyValues("ratelimit.redis." + property).run(context -> {
            FailureAnalysis analysis = LimitedContexts.analysis(context);
            assertThat(analysis.getDescription()).contains(problem).doesNotContain("secret");
        });
        application
                .withPropertyValues(
                        "ratelimit.redis.url=redis://127.0.0.1:" + other.port(), "ratelimit.redis.eu." + property)
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains(problem.replace("ratelimit.redis.", "ratelimit.redis.eu."))
                        .doesNotContain("secret"));
    }

    @Test
    void serversAreNamedInOneWay() {
        application
                .withPropertyValues(
                        "ratelimit.redis.url=redis://localhost",
                        "ratelimit.redis.port=6380",
                        "ratelimit.redis.connection-factory=sessions")
                .run(
                        context -> assertThat(LimitedContexts.analysis(context).getDescription())
                                .contains(
                                        "ratelimit.redis must name its servers in one way (was url, host or port, connection-factory)."));
    }

    private void assertCountedIn(RedisServer server, int database, String... properties) {
        RedisStandaloneConfiguration there = new RedisStandaloneConfiguration("127.0.0.1", server.port());
        there.setDatabase(database);
        if (server == guarded) {
            there.setPassword(PASSWORD);
        }
        LettuceConnectionFactory users = new LettuceConnectionFactory(there);
        users.afterPropertiesSet();
        users.start();
        try {
            run(users, properties);
        } finally {
            users.destroy();
        }
    }

    /** Counts in the Redis, which the application reaches by the properties alone; then the same by those of a further server. */
    private void run(RedisConnectionFactory users, String... properties) {
        application.withPropertyValues(properties).run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(RedisConnectionFactory.class);
            assertCounted(context, users);
        });
        runNamed(users, properties, application);
    }

    private void runNamed(RedisConnectionFactory users, String[] properties, ApplicationContextRunner application) {
        application
                .withPropertyValues(Stream.of(properties)
                        .map(property -> property.replaceFirst("^ratelimit\\.redis\\.", "ratelimit.redis.eu."))
                        .toArray(String[]::new))
                .withPropertyValues(
                        "ratelimit.redis.url=redis://127.0.0.1:" + other.port(), "ratelimit.limits.quotes.redis=eu")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertCounted(context, users);
                });
    }

    private void assertCounted(ApplicationContext context, RedisConnectionFactory users) {
        assertLimits(context);
        byte[] key = (prefix + ":{alice}:quotes").getBytes(StandardCharsets.UTF_8);
        assertThat(users.getConnection().keyCommands().del(key)).isOne();
    }

    private static void assertLimits(ApplicationContext context) {
        RateLimiter quotes = context.getBean(RateLimiterRegistry.class).get("quotes");
        assertThat(Stream.generate(() -> quotes.tryAcquire("alice")).limit(3))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, true, false);
    }
}
