package io.ratelimit.web.servlet;

import static java.lang.Thread.State.BLOCKED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.spi.RateLimitListener;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

class RouteLimiterTests {

    private final WebApplicationContextRunner runner = LimitedContexts.inMemoryServlet()
            .withUserConfiguration(Mvc.class)
            .withPropertyValues("ratelimit.limits.held.algorithm=concurrency", "ratelimit.limits.held.capacity=1");

    private final CompletableFuture<Void> decided = new CompletableFuture<>();

    private final CompletableFuture<Void> locked = new CompletableFuture<>();

    /** As the filter CircuitBreaker of Spring Cloud Gateway, which answers after its timeout and leaves the thread to itself. */
    @Test
    void threadThatEntersWhileItsRequestEndsHoldsNothingAfterwards() {
        runner.withBean("afterDecision", RateLimitListener.class, () -> (charge, decision, outcome) -> {
                    decided.complete(null);
                    locked.join();
                })
                .run(context -> {
                    RouteLimiter routes = context.getBean(RouteLimiter.class);
                    MockHttpServletRequest request = new MockHttpServletRequest();
                    Thread route = new Thread(() -> routes.enter("held", Map.of(), request));
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
                    assertThat(remaining(context)).isEqualTo(1);
                });
    }

    /** As a filter that goes on with the request on another thread. */
    @Test
    void threadThatEntersARequestThatNoneHandlesHoldsItsPermitUntilThatIsOver() {
        runner.run(context -> {
            MockHttpServletRequest request = new MockHttpServletRequest();
            request.setAsyncSupported(true);
            context.getBean(RateLimitHeadersFilter.class)
                    .doFilter(request, new MockHttpServletResponse(), (same, response) -> same.startAsync());
            context.getBean(RouteLimiter.class).enter("held", Map.of(), request);
            assertThat(remaining(context)).isZero();
            request.getAsyncContext().complete();
            assertThat(remaining(context)).isEqualTo(1);
        });
    }

    /** Its asynchronous processing has not started again then, but it is not over. */
    @Test
    void threadThatEntersBeforeADispatchBeginsDoesNotEndTheRequest() {
        runner.withPropertyValues("ratelimit.limits.late.algorithm=concurrency", "ratelimit.limits.late.capacity=1")
                .run(context -> {
                    MockHttpServletRequest request = new MockHttpServletRequest();
                    request.setAsyncSupported(true);
                    RouteLimiter routes = context.getBean(RouteLimiter.class);
                    context.getBean(RateLimitHeadersFilter.class)
                            .doFilter(request, new MockHttpServletResponse(), (same, response) -> {
                                routes.enter("held", Map.of(), request);
                                same.startAsync();
                            });
                    request.setAsyncStarted(false);
                    routes.enter("late", Map.of(), request);
                    assertThat(remaining(context)).isZero();
                });
    }

    private static long remaining(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class)
                .get("held")
                .allCallers()
                .peek()
                .remaining();
    }

    @EnableWebMvc
    static class Mvc {}
}
