package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.testing.LongRunning;
import java.time.Duration;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The rate limit headers have the numbers of the caller's own plan. */
@LongRunning
class PlanFieldsTests {

    @RegisterExtension
    static final RedisUnderTest redis = new RedisUnderTest();

    @ParameterizedTest
    @EnumSource(names = {"SERVLET", "REACTIVE"})
    void callersSeeTheNumbersOfTheirPlan(WebApplicationType type) {
        try (HttpApplication application = new HttpApplication(
                redis,
                type,
                new Class<?>[] {Endpoints.class},
                "ratelimit.web.headers=both",
                "ratelimit.limits.annotated.plans.pro.rate=100/h",
                "ratelimit.limits.urls.rate=2/m",
                "ratelimit.limits.urls.key-expression=header('X-User')",
                "ratelimit.limits.urls.plan-expression=header('X-Plan')",
                "ratelimit.limits.urls.plans.pro.rate=100/h",
                "ratelimit.http[0].path=/url",
                "ratelimit.http[0].limit=urls")) {
            check(application, "/annotated", "annotated");
            check(application, "/url", "urls");
        }
    }

    private static void check(HttpApplication application, String path, String limit) {
        for (int call = 1; call <= 2; call++) {
            HttpAnswer own = application.get(path, "X-User", "alice");
            assertFields(own, limit, "q=2;w=60", 2, 2 - call, 30 * call);
            HttpAnswer pro = application.get(path, "X-User", "bob", "X-Plan", "pro");
            assertFields(pro, limit, "q=100;w=3600", 100, 100 - call, 36 * call);
        }
        HttpAnswer rejected = application.get(path, "X-User", "alice");
        assertThat(rejected.status()).isEqualTo(429);
        assertFields(rejected, limit, "q=2;w=60", 2, 0, 30);
        HttpAnswer upgraded = application.get(path, "X-User", "alice", "X-Plan", "pro");
        assertThat(upgraded.status()).isEqualTo(200);
        assertThat(upgraded.header("RateLimit-Policy")).isEqualTo("\"" + limit + "\";q=100;w=3600");
        assertThat(upgraded.header("X-RateLimit-Remaining")).isEqualTo("97");
        application.later(Duration.ofDays(1));
    }

    private static void assertFields(
            HttpAnswer answer, String limit, String policy, int capacity, int remaining, int reset) {
        assertThat(answer.header("RateLimit-Policy")).isEqualTo("\"" + limit + "\";" + policy);
        assertThat(answer.header("RateLimit")).startsWith("\"" + limit + "\";r=" + remaining + ";");
        assertThat(answer.header("X-RateLimit-Limit")).isEqualTo("" + capacity);
        assertThat(answer.header("X-RateLimit-Remaining")).isEqualTo("" + remaining);
        assertThat(answer.header("X-RateLimit-Reset")).isEqualTo("" + reset);
    }

    @RestController
    static class Endpoints {

        @GetMapping("/annotated")
        @RateLimited(
                name = "annotated",
                rate = "2/m",
                keyExpression = "header('X-User')",
                planExpression = "header('X-Plan')")
        Mono<String> annotated() {
            return Mono.just("annotated");
        }

        @GetMapping("/url")
        Mono<String> url() {
            return Mono.just("url");
        }
    }
}
