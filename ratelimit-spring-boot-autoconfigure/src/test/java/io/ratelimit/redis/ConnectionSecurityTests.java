package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.TestCertificate;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Passwords, users and certificates are those of {@code spring.data.redis}. */
@LongRunning
@Timeout(180)
class ConnectionSecurityTests {

    private static TestCertificate certificate;

    private static TestCertificate other;

    private final RedisServer redis = new RedisServer();

    private final ApplicationContextRunner application = new ApplicationContextRunner()
            .withUserConfiguration(Application.class)
            .withPropertyValues(
                    "spring.data.redis.host=127.0.0.1",
                    "spring.data.redis.port=" + redis.port(),
                    "ratelimit.redis.timeout=10s",
                    "ratelimit.limits.quotes.rate=2/h");

    private final ApplicationContextRunner strict = application.withPropertyValues("ratelimit.on-store-failure=throw");

    @BeforeAll
    static void createCertificates(@TempDir Path directory) throws Exception {
        certificate = TestCertificate.create(directory, "redis");
        other = TestCertificate.create(directory, "other");
    }

    @AfterEach
    void close() {
        redis.close();
    }

    @Test
    void passwordIsTheUsers() {
        setConfig("requirepass", "open sesame");
        strict.withPropertyValues("spring.data.redis.password=open sesame")
                .run(context -> assertThat(limitedInRedis(context)).isTrue());
        strict.withPropertyValues("spring.data.redis.password=open barley").run(this::assertNoDecision);
        strict.run(this::assertNoDecision);
    }

    @Test
    void userNameIsTheUsers() {
        DocumentedAcl.setUser(redis.connections(), DocumentedAcl.rules());
        DocumentedAcl.setDefaultUserOff(redis.connections());
        strict.withPropertyValues(
                        "spring.data.redis.username=" + DocumentedAcl.USER,
                        "spring.data.redis.password=" + DocumentedAcl.PASSWORD)
                .run(context -> assertThat(limitedInRedis(context)).isTrue());
        strict.withPropertyValues("spring.data.redis.password=" + DocumentedAcl.PASSWORD)
                .run(this::assertNoDecision);
    }

    @Test
    void serverThatTheBundleTrustsIsUsed() throws Exception {
        try (FaultyProxy proxy = new FaultyProxy(redis.port(), certificate)) {
            behindTls(strict, proxy)
                    .withPropertyValues(trusting(certificate))
                    .run(context -> assertThat(limitedInRedis(context)).isTrue());
            assertThat(proxy.connections()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void serverThatNobodyTrustsLeavesEachInstanceToItself(boolean bundle) throws Exception {
        try (FaultyProxy proxy = new FaultyProxy(redis.port(), certificate)) {
            behindTls(application, proxy)
                    .withPropertyValues(bundle ? trusting(other) : new String[0])
                    .run(context -> {
                        assertThat(limitedInRedis(context)).isFalse();
                        assertThat(proxy.connections()).isPositive();
                    });
        }
    }

    private static ApplicationContextRunner behindTls(ApplicationContextRunner application, FaultyProxy proxy) {
        return application.withPropertyValues(
                "spring.data.redis.port=" + proxy.port(), "spring.data.redis.ssl.enabled=true");
    }

    private static String[] trusting(TestCertificate certificate) {
        return new String[] {
            "spring.data.redis.ssl.bundle=redis",
            "spring.ssl.bundle.pem.redis.truststore.certificate="
                    + certificate.pem().toUri()
        };
    }

    /** The application started and limits; says whether it counts in Redis. */
    private boolean limitedInRedis(ApplicationContext context) {
        RateLimiter limiter = limiter(context);
        assertThat(Stream.generate(() -> limiter.tryAcquire("alice")).limit(3))
                .extracting(RateLimitDecision::allowed)
                .containsExactly(true, true, false);
        return Boolean.TRUE.equals(new StringRedisTemplate(redis.connections()).hasKey("ratelimit:{alice}:quotes"));
    }

    private void assertNoDecision(ApplicationContext context) {
        RateLimiter limiter = limiter(context);
        assertThatExceptionOfType(RateLimitStoreException.class).isThrownBy(() -> limiter.tryAcquire("alice"));
    }

    private static RateLimiter limiter(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class).get("quotes");
    }

    private void setConfig(String name, String value) {
        try (RedisConnection connection = redis.connections().getConnection()) {
            connection.serverCommands().setConfig(name, value);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
