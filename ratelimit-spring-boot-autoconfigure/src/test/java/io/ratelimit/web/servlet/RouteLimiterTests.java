package io.ratelimit.web.servlet;

import static java.lang.Thread.State.BLOCKED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.AllCallers;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitListener;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

class RouteLimiterTests {

    private final CompletableFuture<Void> decided = new CompletableFuture<>();

    private final CompletableFuture<Void> locked = new CompletableFuture<>();

    /** As the filter CircuitBreaker of Spring Cloud Gateway, which answers after its timeout and leaves the thread to itself. */
    @Test
    void threadThatEntersWhileItsRequestEndsHoldsNothingAfterwards() {
        LimitedContexts.inMemoryServlet()
                .withUserConfiguration(Mvc.class)
                .withBean("afterDecision", RateLimitListener.class, () -> (charge, decision, outcome) -> {
                    decided.complete(null);
                    locked.join();
                })
                .withPropertyValues("ratelimit.limits.held.algorithm=concurrency", "ratelimit.limits.held.capacity=1")
                .run(context -> {
                    RouteLimiter routes = context.getBean(RouteLimiter.class);
                    MockHttpServletRequest request = new MockHttpServletRequest();
                    Thread route = new Thread(
                            () -> routes.enter("held", Map.of(), request).accept(200));
                    route.start();
                    decided.join();
                    // Lets the thread see that the request is handled, and go on when it is over.
                    synchronized (ServletHeaderRecord.of(request)) {
                        context.getBean(RateLimitHeadersFilter.class)
                                .doFilter(request, new MockHttpServletResponse(), (same, response) -> {
                                    locked.complete(null);
                                    await().until(() -> route.getState() == BLOCKED);
                                });
                    }
                    route.join();
                    AllCallers limiter = context.getBean(RateLimiterRegistry.class)
                            .get("held")
                            .allCallers();
                    assertThat(limiter.peek().remaining()).isEqualTo(1);
                });
    }

    @EnableWebMvc
    static class Mvc {}
}
