package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A limit admits a request, and rejects another key in its code. */
class RejectedInCodeTests {

    @RegisterExtension
    static final RunningApplication servlet = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.quotes.plan-expression=none",
            "ratelimit.limits.quotes.plans.trial.rate=1/m");

    @Test
    void tightestDecisionCounts() {
        assertThat(servlet.limiter("quotes").tryAcquire("bob", 2).allowed()).isTrue();
        RawHttp.Answer answer = servlet.get("quote");
        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.text()).contains("RateLimit: \"quotes\";r=0;", "Retry-After: ");
    }

    @Test
    void policyIsThatOfThePlan() {
        RawHttp.Answer answer = servlet.get("planned");
        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.text()).contains("RateLimit-Policy: \"quotes\";q=1;w=60", "RateLimit: \"quotes\";r=0;");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Endpoint.class)
    static class Application {}

    @RestController
    static class Endpoint {

        private final RateLimiterRegistry limiters;

        Endpoint(RateLimiterRegistry limiters) {
            this.limiters = limiters;
        }

        @GetMapping("/quote")
        @RateLimited(name = "quotes", rate = "2/h")
        public String quote() {
            limiters.get("quotes").acquire("bob");
            return "42";
        }

        @GetMapping("/planned")
        public String planned() {
            RateLimiter trial = limiters.get("quotes").withPlan("trial");
            trial.acquire("carol");
            trial.acquire("carol");
            return "42";
        }

        @ExceptionHandler
        public ResponseEntity<String> rejected(RateLimitExceededException rejection) {
            return ResponseEntity.status(429).body("slow down");
        }
    }
}
