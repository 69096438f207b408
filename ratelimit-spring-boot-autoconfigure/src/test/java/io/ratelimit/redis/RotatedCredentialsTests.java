package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.spi.StoreFailure;
import io.ratelimit.spi.StoreFailure.Latest;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.TestCertificate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.LettuceClientConfigurationBuilderCustomizer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import reactor.core.publisher.Mono;

/** Passwords and certificates are replaced while the application runs (docs/redis-security.md). */
@LongRunning
@Timeout(180)
class RotatedCredentialsTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    private final RedisServer redis = RedisServer.loadingAtOnce();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues("ratelimit.redis.timeout=2s", "ratelimit.limits.quotes.rate=1000/s");

    @AfterEach
    void close() {
        redis.close();
    }

    @Test
    void providerIsAskedForEachConnection() {
        AtomicReference<String> password = new AtomicReference<>("old");
        redis.send("ACL", "SETUSER", "limits", "on", ">old", "+@all", "~*", "&*");
        RedisCredentialsProvider provider =
                () -> Mono.fromSupplier(() -> RedisCredentials.just("limits", password.get()));
        application
                .withPropertyValues(redis.properties().toArray(String[]::new))
                .withBean(
                        LettuceClientConfigurationBuilderCustomizer.class,
                        () -> client -> client.redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {
                            @Override
                            public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration servers) {
                                return provider;
                            }
                        }))
                .run(context -> {
                    awaitShared(context, true);
                    redis.send("ACL", "SETUSER", "limits", ">new", "<old");
                    password.set("new");
                    killClients();
                    awaitShared(context, true);
                    password.set("wrong");
                    killClients();
                    awaitShared(context, false);
                });
    }

    /** As one with the starter's own connection: the old password is removed when all instances have the new one. */
    @Test
    void passwordOfThePropertiesIsReadAtTheStart() {
        redis.send("ACL", "SETUSER", "limits", "on", ">old", ">new", "+@all", "~*", "&*");
        for (String password : new String[] {"old", "new"}) {
            own(password).run(context -> awaitShared(context, true));
        }
        own("old").run(context -> {
            awaitShared(context, true);
            redis.send("ACL", "SETUSER", "limits", "<old");
            // What is connected stays so.
            awaitShared(context, true);
            killClients();
            awaitShared(context, false);
            StoreHealth health = context.getBean(StoreHealth.class);
            await("the reason that the server gives")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(health.failures())
                            .extracting(StoreFailure::latest)
                            .doesNotContainNull()
                            .extracting(Latest::reason, Latest::message)
                            .containsExactly(tuple(
                                    Reason.UNAUTHENTICATED,
                                    "Redis: WRONGPASS invalid username-password pair or user is disabled.")));
        });
    }

    private ApplicationContextRunner own(String password) {
        return application.withPropertyValues(
                "ratelimit.redis.host=127.0.0.1",
                "ratelimit.redis.port=" + redis.port(),
                "ratelimit.redis.username=limits",
                "ratelimit.redis.password=" + password);
    }

    @Test
    void serversHaveUsersOfTheirOwn() {
        redis.send("ACL", "SETUSER", "limits", "on", ">one", "+@all", "~*", "&*");
        redis.send("ACL", "SETUSER", "default", "off");
        try (RedisServer eu = RedisServer.loadingAtOnce()) {
            eu.send("ACL", "SETUSER", "europe", "on", ">two", "+@all", "~*", "&*");
            eu.send("ACL", "SETUSER", "default", "off");
            own("one")
                    .withPropertyValues(
                            "ratelimit.redis.eu.host=127.0.0.1",
                            "ratelimit.redis.eu.port=" + eu.port(),
                            "ratelimit.redis.eu.username=europe",
                            "ratelimit.redis.eu.password=two",
                            "ratelimit.limits.reports.rate=1000/s",
                            "ratelimit.limits.reports.redis=eu")
                    .run(context -> {
                        context.getBean(RateLimiterRegistry.class)
                                .get("reports")
                                .tryAcquire("alice");
                        awaitShared(context, true);
                    });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"spring.data.redis", "ratelimit.redis"})
    void certificateIsReplacedByOneThatIsTrustedBefore(String prefix, @TempDir Path directory) throws Exception {
        TestCertificate first = TestCertificate.create(directory, "first");
        TestCertificate second = TestCertificate.create(directory, "second");
        Path both = Files.writeString(
                directory.resolve("both.pem"), Files.readString(first.pem()) + Files.readString(second.pem()));
        FaultyProxy proxy = new FaultyProxy(redis.port(), first);
        int port = proxy.port();
        application
                .withPropertyValues(
                        prefix + ".host=127.0.0.1",
                        prefix + ".port=" + port,
                        prefix + ".ssl.enabled=true",
                        prefix + ".ssl.bundle=redis",
                        "spring.ssl.bundle.pem.redis.truststore.certificate=" + both.toUri())
                .run(context -> {
                    awaitShared(context, true);
                    proxy.close();
                    awaitShared(context, false);
                    try (FaultyProxy next = new FaultyProxy(redis.port(), second, port)) {
                        awaitShared(context, true);
                        assertThat(next.connections()).isPositive();
                    }
                });
    }

    private void killClients() {
        redis.send("CLIENT", "KILL", "USER", "limits");
    }

    private static void awaitShared(ApplicationContext context, boolean shared) {
        RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("quotes");
        StoreHealth health = context.getBean(StoreHealth.class);
        await().atMost(SOON).until(() -> {
            limiter.tryAcquire("alice");
            return health.failures().isEmpty() == shared;
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
