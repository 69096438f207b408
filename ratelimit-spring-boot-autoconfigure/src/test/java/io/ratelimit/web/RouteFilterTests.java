package io.ratelimit.web;

import static io.ratelimit.web.function.RateLimitFilterFunctions.rateLimit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.web.servlet.RouteLimiter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.function.HandlerFilterFunction;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** Functional endpoints on a real Tomcat, with a limit by the filter of their routes. */
@ExtendWith(OutputCaptureExtension.class)
class RouteFilterTests {

    private static final HttpClient client = HttpClient.newHttpClient();

    @RegisterExtension
    static final RunningApplication server = new RunningApplication(
            WebApplicationType.SERVLET,
            Application.class,
            "ratelimit.limits.quotes.rate=2/d",
            "ratelimit.limits.quotes.key-expression=#caller",
            "ratelimit.limits.by-header.rate=1/d",
            "ratelimit.limits.by-header.key-expression=header('X-Api-Key')",
            "ratelimit.limits.both.rate=3/d",
            "ratelimit.limits.both.key-expression=#caller",
            "ratelimit.limits.held.algorithm=concurrency",
            "ratelimit.limits.held.capacity=1",
            "ratelimit.limits.apart.rate=1/d",
            "ratelimit.limits.retried.algorithm=concurrency",
            "ratelimit.limits.retried.capacity=1",
            "ratelimit.limits.failures.rate=1/d",
            "ratelimit.limits.failures.permits-after=#status < 400 ? 0 : 1",
            "ratelimit.limits.shared.rate=1/d",
            "ratelimit.limits.off.rate=1/d",
            "ratelimit.limits.off.enabled=false",
            "ratelimit.http[0].path=/both/{caller}",
            "ratelimit.http[0].limit=both");

    @RegisterExtension
    static final RunningApplication unlimited =
            new RunningApplication(WebApplicationType.SERVLET, Application.class, "ratelimit.enabled=false");

    @Test
    void routeIsLimitedAsAUrlIs() {
        get("quotes/alice").isAllowed("\"quotes\";r=1;t=43200");
        get("quotes/alice").isAllowed("\"quotes\";r=0;t=86400");
        assertThat(get("quotes/alice")
                        .isRejected("\"quotes\";r=0;t=43200", "43200", "quotes")
                        .problem())
                .containsEntry("detail", "Rate limit 'quotes' exceeded")
                .containsEntry("instance", "/quotes/alice");
        get("quotes/bob").isAllowed("\"quotes\";r=1;t=43200");
    }

    @Test
    void requestWithoutAKeyIsTheMistakeOfItsClient() {
        assertThat(get("by-header").status()).isEqualTo(400);
    }

    @Test
    void requestOfAUrlRuleWithTheSameLimitIsChargedOnce() {
        get("both/alice").isAllowed("\"both\";r=2;t=28800");
        assertThat(server.limiter("both").peek("alice").remaining()).isEqualTo(2);
    }

    @Test
    void permitIsHeldUntilTheResponseIsComplete() {
        Application handlers = server.bean(Application.class);
        CompletableFuture<RawHttp.Answer> first = CompletableFuture.supplyAsync(() -> server.get("held"));
        await().until(() -> server.limiter("held").allCallers().peek().remaining() == 0);
        assertThat(server.get("held").status()).isEqualTo(429);
        handlers.held.complete(ServerResponse.ok().build());
        assertThat(first.join().status()).isEqualTo(200);
        await().until(() -> server.limiter("held").allCallers().peek().remaining() == 1);
    }

    /** As the filter CircuitBreaker of Spring Cloud Gateway, whose timeout needs one. */
    @Test
    void outerFilterMayHandleTheRequestOnAnotherThread() {
        get("apart").isAllowed("\"apart\";r=0;t=86400");
        get("apart").isRejected("\"apart\";r=0;t=86400", "86400", "apart");
    }

    /** As the filter Retry of Spring Cloud Gateway. The permit of the first attempt is held until the response is complete. */
    @Test
    void attemptsOfAnOuterFilterHoldOnePermit() {
        assertThat(server.get("retried").status()).isEqualTo(200);
        await().until(() -> server.limiter("retried").allCallers().peek().remaining() == 1);
    }

    @Test
    void statusOfTheResponseDeterminesTheCost() {
        assertThat(get("answer/200").status()).isEqualTo(200);
        await().until(() -> server.limiter("failures").allCallers().peek().remaining() == 1);
        assertThat(get("answer/404").status()).isEqualTo(404);
        await().until(() -> get("answer/200").status() == 429);
    }

    @Test
    void disabledLimitsLimitNoRoute() {
        get("off").isAllowed(null);
        get("off").isAllowed(null);
        get(unlimited, "unknown").isAllowed(null);
    }

    @Test
    void filterOfTwoApplicationsAppliesTheLimitsOfEach() {
        get(unlimited, "shared").isAllowed(null);
        get("shared").isAllowed("\"shared\";r=0;t=86400");
        get(unlimited, "shared").isAllowed(null);
        assertThat(get("shared").status()).isEqualTo(429);
    }

    /** Spring shows a filter of a route in Java to nothing but requests. */
    @Test
    void unknownLimitFailsTheRequestsOfTheRouteWithOneLine(CapturedOutput output) {
        for (int request = 1; request <= 2; request++) {
            assertThat(get("unknown").problem())
                    .containsEntry("status", 500)
                    .containsEntry("detail", "The server cannot evaluate a rate limit of the request");
        }
        assertThat(output.getAll().lines().filter(line -> line.contains(" ERROR ")))
                .singleElement(STRING)
                .contains("filter RateLimit.limit must be the name of a limit (was \"quots\"). Did you mean 'quotes'?")
                .contains("answering 500. Logged at most once a minute");
        assertThat(output.getAll()).doesNotContain("\tat ");
        assertThatThrownBy(() -> server.bean(RouteLimiter.class).limit("quots", Set.of()))
                .isInstanceOf(RateLimitConfigurationException.class)
                .hasMessageStartingWith("filter RateLimit.limit must be the name of a limit (was \"quots\").");
    }

    private static HttpAnswer get(String path) {
        return get(server, path);
    }

    private static HttpAnswer get(RunningApplication application, String path) {
        URI uri = URI.create("http://127.0.0.1:" + application.port() + "/" + path);
        try {
            return new HttpAnswer(client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()));
        } catch (IOException | InterruptedException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        private static final HandlerFilterFunction<ServerResponse, ServerResponse> SHARED = rateLimit("shared");

        private final CompletableFuture<ServerResponse> held = new CompletableFuture<>();

        @Bean
        StoppedClock clock() {
            return new StoppedClock();
        }

        @Bean
        RouterFunction<ServerResponse> quotes() {
            return route("/quotes/{caller}", "quotes")
                    .and(route("/by-header", "by-header"))
                    .and(route("/both/{caller}", "both"))
                    .and(route("/off", "off"))
                    .and(route("/unknown", "quots"));
        }

        @Bean
        RouterFunction<ServerResponse> shared() {
            return RouterFunctions.route()
                    .GET("/shared", request -> ServerResponse.ok().build())
                    .filter(SHARED)
                    .build();
        }

        private static RouterFunction<ServerResponse> route(String path, String limit) {
            return RouterFunctions.route()
                    .GET(path, request -> ServerResponse.ok().body(Map.of("answer", 42)))
                    .filter(rateLimit(limit))
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> held() {
            return RouterFunctions.route()
                    .GET("/held", request -> ServerResponse.async(held))
                    .filter(rateLimit("held"))
                    .build();
        }

        @Bean
        RouterFunction<ServerResponse> behindOtherFilters() {
            HandlerFilterFunction<ServerResponse, ServerResponse> apart = (request, next) ->
                    CompletableFuture.supplyAsync(() -> handle(request, next)).get();
            HandlerFilterFunction<ServerResponse, ServerResponse> retrying = (request, next) -> {
                next.handle(request);
                return next.handle(request);
            };
            return RouterFunctions.route()
                    .path(
                            "/apart",
                            route -> route.GET(request -> ServerResponse.ok().build())
                                    .filter(apart.andThen(rateLimit("apart"))))
                    .path(
                            "/retried",
                            route -> route.GET(request -> ServerResponse.ok().build())
                                    .filter(retrying.andThen(rateLimit("retried"))))
                    .build();
        }

        private static ServerResponse handle(ServerRequest request, HandlerFunction<ServerResponse> next) {
            try {
                return next.handle(request);
            } catch (Exception ex) {
                throw new CompletionException(ex);
            }
        }

        @Bean
        RouterFunction<ServerResponse> answer() {
            return RouterFunctions.route()
                    .GET(
                            "/answer/{code}",
                            request -> ServerResponse.status(Integer.parseInt(request.pathVariable("code")))
                                    .build())
                    .filter(rateLimit("failures"))
                    .build();
        }
    }
}
