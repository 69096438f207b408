package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.redis.RateLimitScriptExecutor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** What a caller sees while the store cannot decide: never a 429 of its own. */
class StoreFailureResponseTests {

    private final WebApplicationContextRunner runner = LimitedContexts.inMemoryServlet()
            .withUserConfiguration(Mvc.class)
            .withBean(QuoteController.class)
            .withBean(FailingExecutor.class)
            .withPropertyValues("ratelimit.store=redis");

    @Test
    void rejectAnswers503() {
        runner.withPropertyValues("ratelimit.on-store-failure=reject").run(context -> {
            MvcTestResult refused =
                    MockMvcTester.from(context).get().uri("/quote").exchange();
            assertThat(refused)
                    .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                    .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                    .doesNotContainHeader(HttpHeaders.RETRY_AFTER);
            assertThat(refused).bodyJson().isStrictlyEqualTo("""
                            {
                              "type": "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
                              "title": "Request cannot be satisfied due to temporary server capacity constraints",
                              "status": 503,
                              "detail": "Refused, because the rate limit cannot be decided",
                              "instance": "/quote"
                            }
                            """);
        });
    }

    @Test
    void throwLeavesTheExceptionToTheApplication() {
        runner.withPropertyValues("ratelimit.on-store-failure=throw")
                .run(context -> assertThat(MockMvcTester.from(context).get().uri("/quote"))
                        .hasFailed()
                        .failure()
                        .rootCause()
                        .isInstanceOf(QueryTimeoutException.class));
    }

    @Test
    void throwOfOneLimitIsAStoreException() {
        runner.withPropertyValues("ratelimit.limits.quotes.on-store-failure=throw")
                .run(context -> assertThat(MockMvcTester.from(context).get().uri("/quote"))
                        .failure()
                        .cause()
                        .isExactlyInstanceOf(RateLimitStoreException.class)
                        .hasMessage("Redis: no answer in time"));
    }

    @Test
    void allowLetsCallsPassUnlimited() {
        runner.withPropertyValues("ratelimit.on-store-failure=allow").run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            assertThat(mvc.get().uri("/quote")).hasStatusOk();
            assertThat(mvc.get().uri("/quote")).hasStatusOk();
        });
    }

    @Test
    void localLimitsByItself() {
        runner.run(context -> {
            MockMvcTester mvc = MockMvcTester.from(context);
            assertThat(mvc.get().uri("/quote")).hasStatusOk();
            assertThat(mvc.get().uri("/quote"))
                    .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                    .hasHeader(HttpHeaders.RETRY_AFTER, "1");
        });
    }

    @EnableWebMvc
    static class Mvc {}

    @RestController
    static class QuoteController {

        @GetMapping("/quote")
        @RateLimited(name = "quotes", rate = "1/s")
        public String quote() {
            return "42";
        }
    }

    static class FailingExecutor implements RateLimitScriptExecutor {

        @Override
        public CompletionStage<List<Long>> execute(List<byte[]> keys, byte[][] arguments) {
            return CompletableFuture.failedFuture(new QueryTimeoutException("Redis hangs"));
        }
    }
}
