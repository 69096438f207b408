package io.ratelimit.autoconfigure;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.internal.limiter.EffectiveLimit;
import io.ratelimit.internal.limiter.LimitCatalog;
import io.ratelimit.internal.limiter.LimitState;
import io.ratelimit.internal.limiter.StoredOverride;
import jakarta.servlet.Filter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.webflux.autoconfigure.WebFluxAutoConfiguration;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What has read a limit at start-up follows its changes. */
class ChangedLimitTests {

    private final ApplicationContextRunner application =
            LimitedContexts.inMemory().withBean(Quotes.class);

    @Test
    void permitsThatWereUsedCountByTheNewNumbers() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.keyed("alice");
            quotes.keyed("alice");
            assertRejected("keyed", () -> quotes.keyed("alice"));
            override(context, "keyed", RateLimitOverride.builder().capacity(3));
            quotes.keyed("alice");
            assertRejected("keyed", () -> quotes.keyed("alice"));
            limit(context, "keyed").apply(Map.of());
            assertRejected("keyed", () -> quotes.keyed("alice"));
        });
    }

    @Test
    void chargesThatAreTheSameForAllCallsFollow() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.all();
            assertRejected("all", quotes::all);
            override(context, "all", RateLimitOverride.builder().capacity(2).dryRun(false));
            quotes.all();
            assertRejected("all", quotes::all);
            override(context, "all", RateLimitOverride.builder().dryRun(true));
            quotes.all();
        });
    }

    @Test
    void limitIsSwitchedOffAndOnAgain() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.all();
            override(context, "all", RateLimitOverride.builder().enabled(false));
            quotes.all();
            quotes.all();
            limit(context, "all").apply(Map.of());
            assertRejected("all", quotes::all);
        });
    }

    @Test
    void limitThatWasOffAtStartUpIsSwitchedOn() {
        application
                .withPropertyValues("ratelimit.limits.all.enabled=false", "ratelimit.limits.keyed.enabled=false")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.all();
                    quotes.all();
                    override(context, "all", RateLimitOverride.builder().enabled(true));
                    quotes.all();
                    assertRejected("all", quotes::all);
                });
    }

    @Test
    void oneOfTwoLimitsOfAMethodFollows() {
        application.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.both("alice");
            assertRejected("first", () -> quotes.both("alice"));
            override(context, "first", RateLimitOverride.builder().enabled(false));
            quotes.both("alice");
            assertRejected("second", () -> quotes.both("alice"));
            override(context, "second", RateLimitOverride.builder().capacity(4));
            quotes.both("alice");
            quotes.both("alice");
            assertRejected("second", () -> quotes.both("alice"));
        });
    }

    @Test
    void limiterFollows() {
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("keyed");
            assertThat(limiter.tryAcquire("alice", 3).allowed()).isFalse();
            override(context, "keyed", RateLimitOverride.builder().capacity(3));
            assertThat(limiter.tryAcquire("alice", 3).allowed()).isTrue();
            assertThat(limiter.tryAcquire("alice").capacity()).isEqualTo(3);
        });
    }

    @Test
    void limitWaitsOnceItHasAMaxWait() {
        application.run(context -> {
            RateLimiter limiter = context.getBean(RateLimiterRegistry.class).get("keyed");
            assertThat(limiter.tryAcquire("alice", 2).allowed()).isTrue();
            override(context, "keyed", RateLimitOverride.builder().maxWait(Duration.ofHours(2)));
            assertThat(limiter.tryAcquire("alice").delay()).isEqualTo(Duration.ofHours(1));
        });
    }

    @Test
    void ruleForUrlsFollows() {
        LimitedContexts.inMemoryServlet()
                .withPropertyValues(
                        "ratelimit.limits.urls.rate=1/h",
                        "ratelimit.limits.urls.enabled=false",
                        "ratelimit.http[0].path=/**",
                        "ratelimit.http[0].limit=urls")
                .run(context -> {
                    Filter filter = context.getBean("rateLimitRequestFilter", Filter.class);
                    assertThat(statuses(filter)).containsExactly(200, 200, 200);
                    override(context, "urls", RateLimitOverride.builder().enabled(true));
                    assertThat(statuses(filter)).containsExactly(200, 429, 429);
                    override(
                            context,
                            "urls",
                            RateLimitOverride.builder().enabled(true).capacity(3));
                    assertThat(statuses(filter)).containsExactly(200, 200, 429);
                    limit(context, "urls").apply(Map.of());
                    assertThat(statuses(filter)).containsExactly(200, 200, 200);
                });
    }

    @Test
    void overrideThatWouldMakeAnEventLoopWaitIsInvalid() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(WebFluxAutoConfiguration.class, RateLimitAutoConfiguration.class))
                .withPropertyValues("ratelimit.store=in-memory")
                .withBean(BlockingHandler.class)
                .run(context -> {
                    RateLimitOverride waiting = RateLimitOverride.builder()
                            .maxWait(Duration.ofSeconds(1))
                            .build();
                    assertThatExceptionOfType(RateLimitConfigurationException.class)
                            .isThrownBy(() -> limit(context, "handled").check(LimitState.OF_LIMIT, waiting))
                            .withMessageContaining("handler method on an event loop must be reactive");
                    assertThat(limit(context, "handled").get().maxWait()).isZero();
                    override(context, "handled", RateLimitOverride.builder().capacity(7));
                    assertThat(limit(context, "handled").get().capacity()).isEqualTo(7);
                });
    }

    private static List<Integer> statuses(Filter filter) throws Exception {
        return List.of(status(filter), status(filter), status(filter));
    }

    private static int status(Filter filter) throws Exception {
        MockHttpServletResponse response = new MockHttpServletResponse();
        filter.doFilter(new MockHttpServletRequest("GET", "/quotes"), response, new MockFilterChain());
        return response.getStatus();
    }

    private static void override(BeanFactory context, String name, RateLimitOverride.Builder override) {
        StoredOverride stored = new StoredOverride(1, 0, override.build(), null);
        assertThat(limit(context, name)
                        .apply(Map.of(LimitState.OF_LIMIT, stored))
                        .problem())
                .isNull();
    }

    private static EffectiveLimit limit(BeanFactory context, String name) {
        return context.getBean(LimitCatalog.class).effective(name).orElseThrow();
    }

    static class Quotes {

        @RateLimited(name = "keyed", capacity = 2, rate = "1/h", keyExpression = "#user")
        public void keyed(String user) {}

        @RateLimited(name = "all", capacity = 1, rate = "1/h")
        public void all() {}

        @RateLimited(name = "first", capacity = 1, rate = "1/h", keyExpression = "#user")
        @RateLimited(name = "second", capacity = 2, rate = "1/h")
        public void both(String user) {}
    }

    @RestController
    static class BlockingHandler {

        @GetMapping("/handled")
        @RateLimited(name = "handled", rate = "1/s")
        public String handled() {
            return "";
        }
    }
}
