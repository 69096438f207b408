package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.TestClock;
import jakarta.servlet.Filter;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** The recipe, as an application: what its page says is what it does. */
@LongRunning
class MonthlyQuotaRecipeTests {

    private static final MarkdownPage PAGE = MarkdownPage.of("docs/recipes/monthly-quota.md");

    private static Snippet first(String language) {
        return PAGE.snippets().stream()
                .filter(snippet -> snippet.is(language))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void quotaIsInTheHeadersAndOnThePageAndIsRenewedOnTheFirst() throws Exception {
        try (JavaSnippets java = JavaSnippets.compile(List.of(first("java")))) {
            DocumentedApplication.of(java.beans(first("java")), DocumentedApplication.configuration(first("yaml")))
                    .withBean(TestClock.class)
                    .withBean(Mvc.class)
                    .withBean(Api.class)
                    .withClassLoader(java.classLoader())
                    .run(MonthlyQuotaRecipeTests::follow);
        }
    }

    private static void follow(AssertableWebApplicationContext context) throws Exception {
        TestClock clock = context.getBean(TestClock.class);
        Customer alice = new Customer(context, "alice");
        setClock(clock, "2026-03-15T12:00:00Z");
        MockHttpServletResponse called = alice.get("/api/prices");
        assertThat(called.getStatus()).isEqualTo(200);
        assertThat("RateLimit-Policy: " + called.getHeader("RateLimit-Policy") + "\nRateLimit: "
                        + called.getHeader("RateLimit") + "\n")
                .isEqualTo(first("text").text());
        assertThat(alice.get("/quota").getContentAsString())
                .contains("Used: 1 of %,d calls, renewed in 16 days".formatted(10_000));
        context.getBean(RateLimiterRegistry.class).get("api-quota").tryAcquire("alice", 9_999);
        assertThat(alice.get("/quota").getContentAsString()).contains("max=\"10000\" value=\"10000\"");
        MockHttpServletResponse rejected = alice.get("/api/prices");
        assertThat(rejected.getStatus()).isEqualTo(429);
        assertThat(rejected.getHeader("Retry-After")).isEqualTo("1418400");
        assertThat(new Customer(context, "bob").get("/quota").getContentAsString())
                .contains("Used: 0 of %,d calls\n".formatted(10_000));
        setClock(clock, "2026-03-31T22:00:00Z");
        assertThat(alice.get("/api/prices").getHeader("RateLimit-Policy")).contains("w=2592000");
        assertThat(alice.get("/quota").getContentAsString())
                .contains("Used: 1 of %,d calls, renewed in 30 days".formatted(10_000));
    }

    private static void setClock(TestClock clock, String time) {
        clock.set(Instant.parse(time).getEpochSecond() * 1_000_000);
    }

    private record Customer(MockMvc api, String name) {

        Customer(WebApplicationContext context, String name) {
            this(
                    MockMvcBuilders.webAppContextSetup(context)
                            .addFilters(context.getBeanProvider(Filter.class)
                                    .orderedStream()
                                    .toArray(Filter[]::new))
                            .build(),
                    name);
        }

        MockHttpServletResponse get(String path) throws Exception {
            return api.perform(MockMvcRequestBuilders.get(path).principal(() -> name))
                    .andReturn()
                    .getResponse();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class Mvc {}

    @RestController
    static class Api {

        @GetMapping("/api/prices")
        String prices() {
            return "42";
        }
    }
}
