package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.web.client.RestClient;

/** What an operator reads over HTTP, from before Redis is killed until limits are shared again. */
@Timeout(180)
@LongRunning
class HealthTests {

    private static final Answer SHARED =
            new Answer(HttpStatus.OK, Map.of("status", "UP", "details", Map.of("limits", "shared")));

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final RedisServer server = new RedisServer();

    private ConfigurableApplicationContext application;

    private record Answer(HttpStatus status, Map<String, Object> body) {}

    @AfterEach
    void close() {
        server.close();
        if (application != null) {
            application.close();
        }
    }

    @Test
    void isUpAndSaysWhatIsWrongWhileRedisIsGone() {
        start();
        awaitShared();
        server.kill();
        application.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire("alice");
        Answer failing = health();
        assertThat(failing.status()).isEqualTo(HttpStatus.OK);
        assertThat(failing.body().toString())
                .contains("status=UP", "limits=on-store-failure", "reason=unreachable", "calls=1")
                .doesNotContain("alice");
        server.restart();
        awaitShared();
    }

    /** Its connection is replaced, and is none until the server answers again: the server is not to be started, but runs. */
    @Test
    void saysThatItHangsAlsoWhenItsConnectionIsReplaced() {
        start("logging.level.io.ratelimit.redis=debug");
        awaitShared();
        RateLimiter limiter = application.getBean(RateLimiterRegistry.class).get("quotes");
        try (LogRecorder log = new LogRecorder("io.ratelimit.redis")) {
            server.hang();
            await("attempts to replace the connection").atMost(PATIENCE).until(() -> {
                limiter.tryAcquire("alice");
                return log.lines().stream()
                                .filter(line -> line.startsWith("Cannot reconnect to Redis"))
                                .count()
                        >= 2;
            });
        }
        assertThat(health().body().toString()).contains("reason=timeout").doesNotContain("latestReason");
        server.goOn();
        awaitShared();
    }

    /** Probes ask while there are no calls. */
    @Test
    void logNamesTheReasonThatAProbeHasFoundFirst() {
        start();
        awaitShared();
        server.hang();
        await("a new connection")
                .atMost(PATIENCE)
                .untilAsserted(() -> assertThat(health().body().toString())
                        .contains("reason=timeout", "latestReason=unreachable", "calls=0"));
        try (LogRecorder log = new LogRecorder("io.ratelimit.store")) {
            application.getBean(RateLimiterRegistry.class).get("quotes").tryAcquire("alice");
            assertThat(log.text()).contains("unavailable (timeout: ", "; now unreachable: ");
        }
        server.goOn();
        awaitShared();
    }

    @Test
    void isDownWhileRedisIsGoneIfAsked() {
        start("ratelimit.health.store-failure=down");
        awaitShared();
        server.kill();
        Answer failing = health();
        assertThat(failing.status()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE);
        assertThat(failing.body().toString()).contains("status=DOWN", "limits=on-store-failure");
        server.restart();
        awaitShared();
    }

    private void start(String... properties) {
        application = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .run(Stream.of(
                                List.of(properties),
                                server.properties(),
                                List.of(
                                        "server.port=0",
                                        "server.address=127.0.0.1",
                                        "spring.main.banner-mode=off",
                                        "management.endpoint.health.show-details=always",
                                        "ratelimit.limits.quotes.rate=1/h"))
                        .flatMap(List::stream)
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
    }

    private void awaitShared() {
        await("limits are shared").atMost(PATIENCE).until(() -> health().equals(SHARED));
    }

    private Answer health() {
        String port = application.getEnvironment().getProperty("local.server.port");
        return RestClient.create("http://127.0.0.1:" + port)
                .get()
                .uri("/actuator/health/ratelimit")
                .exchange((request, response) -> new Answer(
                        HttpStatus.valueOf(response.getStatusCode().value()),
                        JsonParserFactory.getJsonParser().parseMap(response.bodyTo(String.class))));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
