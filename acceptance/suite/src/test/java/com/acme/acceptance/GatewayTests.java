package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Routes of Spring Cloud Gateway to a service of this test. */
class GatewayTests {

    private static HttpServer upstream;

    private static Application gateway;

    private static Application withoutRedis;

    private final String key = UUID.randomUUID().toString();

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        upstream.start();
        gateway = gateway(Application.redis().properties());
        withoutRedis = gateway(
                "ratelimit.redis.url=redis://127.0.0.1:1",
                "ratelimit.limits.gateway-named.on-store-failure=reject",
                "management.endpoint.ratelimits.access=none");
    }

    private static Application gateway(String... properties) {
        String uri = "upstream=http://127.0.0.1:" + upstream.getAddress().getPort();
        return Application.start(
                "gateway", Stream.concat(Stream.of(uri), Stream.of(properties)).toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        upstream.stop(0);
    }

    @Test
    void aRuleForUrlsLimitsARoute() {
        gateway.allowed("/url/" + key);
        gateway.allowed("/url/" + key);
        gateway.rejected("gateway-url", "/url/" + key);
    }

    @Test
    void theFilterAppliesTheLimitThatItNames() {
        assertThat(call("/named").headers().firstValue("RateLimit").orElse("")).startsWith("\"gateway-named\";r=2");
        gateway.allowed("/named", "X-Api-Key", key);
        assertRejected("/named", "gateway-named");
        gateway.allowed("/named", "X-Api-Key", key + "-other");
    }

    @Test
    void theFilterAppliesTheLimitOfItsRoute() {
        call("/route");
        call("/route");
        assertRejected("/route", "gateway-route");
    }

    @Test
    void theFilterIsForRoutesInJavaToo() {
        for (String path : List.of("/gateway-coded", "/argued")) {
            call(path);
            call(path);
        }
        assertRejected("/gateway-coded", "gateway-coded");
        assertRejected("/argued", "gateway-argued");
    }

    /** The gateway tells nothing of such a route before. */
    @Test
    void aRouteInJavaWithAnUnknownLimitFailsItsRequestsWithOneLine() {
        for (int request = 1; request <= 2; request++) {
            HttpResponse<String> response = gateway.get("/unknown", "X-Api-Key", key);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(500);
            assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        }
        assertThat(gateway.log().lines().filter(line -> line.contains("of route 'unknown'")))
                .singleElement()
                .asString()
                .contains("ratelimit.limits.unknown must name a declared limit, or have a rate.")
                .contains("answering 500. Logged at most once a minute");
    }

    @Test
    void anArgumentOfARouteInJavaThatNamesNoLimitStopsTheStart() {
        List<String> properties = new ArrayList<>(List.of(Application.redis().properties()));
        properties.add("limit-of-argued=gateway-arguet");
        assertThat(gateway(properties.toArray(String[]::new)).logOfEnd())
                .contains("filter RequestRateLimiter of route 'argued'")
                .contains("Did you mean ratelimit.limits.gateway-argued?");
    }

    /** It has no argument but the limiter. */
    @Test
    void aRouteOfTheConfigurationWhoseIdIsNoLimitIsNotLoaded() {
        List<String> properties = new ArrayList<>(List.of(Application.redis().properties()));
        properties.addAll(List.of(
                "id-of-route=gateway-rout", "spring.cloud.gateway.server.webflux.fail-on-route-definition-error=false"));
        Application mistaken = gateway(properties.toArray(String[]::new));
        assertThat(mistaken.get("/route", "X-Api-Key", key).statusCode()).isEqualTo(404);
        assertThat(mistaken.log()).contains("filter RequestRateLimiter of route 'gateway-rout'");
    }

    @Test
    void theGatewaysOwnRateLimiterStaysTheDefault() {
        assertThat(call("/default").headers().map())
                .containsKey("X-RateLimit-Burst-Capacity")
                .doesNotContainKey("RateLimit");
    }

    /** Generated code has what was on when it was generated, and refuses to start without it. */
    @Test
    @DisabledIfSystemProperty(named = "acceptance.jvm-options", matches = ".*spring\\.aot\\.enabled=true.*")
    void disabledLimitsLimitNoRoute() {
        Application unlimited = gateway("ratelimit.enabled=false");
        for (int call = 1; call <= 4; call++) {
            unlimited.allowed("/route", "X-Api-Key", key);
            unlimited.allowed("/url/" + key);
        }
    }

    /** The filter hands over the key alone, so that no caller would have the numbers of its plan. */
    @Test
    void aRouteWhoseLimitHasPlansIsRefused() {
        List<String> properties = new ArrayList<>(List.of(Application.redis().properties()));
        properties.addAll(List.of(
                "ratelimit.limits.gateway-route.plans.pro.rate=9/d",
                "ratelimit.limits.gateway-named.plans.pro.rate=9/d",
                "ratelimit.limits.gateway-named.plan-expression=none",
                "spring.cloud.gateway.server.webflux.fail-on-route-definition-error=false"));
        Application planned = gateway(properties.toArray(String[]::new));
        planned.allowed("/named", "X-Api-Key", key);
        // By when the gateway builds the route: it has none, or the request fails.
        assertThat(planned.get("/route", "X-Api-Key", key).statusCode()).isIn(404, 500);
        assertThat(planned.log())
                .contains("filter RequestRateLimiter of route 'gateway-route'")
                .contains("ratelimit.limits.gateway-route must not have plans here, because the filter hands over the key"
                        + " alone.");
    }

    @Test
    void aRouteWhoseCostWouldNeverBeSettledIsRefused() {
        List<String> properties = new ArrayList<>(List.of(Application.redis().properties()));
        properties.addAll(List.of(
                "ratelimit.limits.gateway-route.permits-after=#status < 400 ? 0 : 1",
                "spring.cloud.gateway.server.webflux.fail-on-route-definition-error=false"));
        Application settled = gateway(properties.toArray(String[]::new));
        assertThat(settled.get("/route", "X-Api-Key", key).statusCode()).isIn(404, 500);
        assertThat(settled.log()).contains("must have neither permits-after nor refund-on here");
    }

    @Test
    void anInstanceLimitsItsRoutesWithoutRedis() {
        withoutRedis.allowed("/route", "X-Api-Key", key);
        withoutRedis.allowed("/route", "X-Api-Key", key);
        assertRejected(withoutRedis, "/route", "gateway-route");
    }

    @Test
    void aRouteIsRefusedIfItsLimitRejectsWithoutRedis() {
        HttpResponse<String> response = withoutRedis.get("/named", "X-Api-Key", key);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(503);
        assertThat(response.headers().firstValue("RateLimit")).isEmpty();
    }

    @Test
    void aLimitAppliesThePropertiesThatSpringCloudHasChanged() {
        String path = "/refreshed/" + key;
        gateway.allowed(path);
        gateway.allowed(path);
        gateway.rejected("gateway-refreshed", path);
        try {
            changeRate("4/d");
            assertThat(refreshedRate()).isEqualTo("4/d");
            gateway.allowed(path);
            gateway.allowed(path);
            gateway.rejected("gateway-refreshed", path);

            changeRate("4/fortnight");
            assertThat(refreshedRate()).isEqualTo("4/d");
            assertThat(gateway.log()).contains("Refreshed properties of rate limits are invalid");
            gateway.rejected("gateway-refreshed", path);
        } finally {
            assertThat(gateway.send("DELETE", "/actuator/env", "").statusCode()).isEqualTo(200);
        }
        assertThat(refreshedRate()).isEqualTo("2/d");
    }

    /** Of another limit: no property applies as long as one of them is invalid. */
    @Test
    void propertiesThatSpringCloudHasChangedAreRefusedAsAWhole() {
        try {
            set("ratelimit.limits.gateway-named.capacity", "many");
            set("ratelimit.limits.gateway-refreshed.rate", "5/d");
            assertThat(refreshedRate()).isEqualTo("2/d");
            assertThat(gateway.log())
                    .contains("ratelimit.limits.gateway-named.capacity must be a whole number within the range of Long"
                            + " (was \"many\").")
                    .contains("keeping the present ones");
            set("ratelimit.limits.gateway-named.capacity", "4");
            assertThat(refreshedRate()).isEqualTo("5/d");

            set("ratelimit.limits.gateway-new.rate", "1/d");
            assertThat(gateway.log())
                    .contains("Refreshed properties declare new rate limits (ratelimit.limits.gateway-new)");
            assertThat(gateway.get("/actuator/ratelimits/gateway-new").statusCode()).isEqualTo(404);
        } finally {
            assertThat(gateway.send("DELETE", "/actuator/env", "").statusCode()).isEqualTo(200);
        }
        assertThat(refreshedRate()).isEqualTo("2/d");
    }

    /** Nothing would release the permits. A route without arguments is known from its first call on. */
    @Test
    void anAlgorithmThatHoldsPermitsIsRefusedForALimitOfARoute() {
        call("/route");
        try {
            set("ratelimit.limits.gateway-route.rate", "");
            set("ratelimit.limits.gateway-route.capacity", "2");
            set("ratelimit.limits.gateway-route.algorithm", "concurrency");
            assertThat(gateway.log())
                    .contains("the algorithm of the limit 'gateway-route' must not be CONCURRENCY here")
                    .contains("keeping the present ones");
            assertThat(gateway.<String>json("/actuator/ratelimits/gateway-route", "$.rate"))
                    .isEqualTo("2/d");
        } finally {
            assertThat(gateway.send("DELETE", "/actuator/env", "").statusCode()).isEqualTo(200);
        }
    }

    /** As at the start, when the gateway does not load the route. */
    @Test
    void plansAreRefusedForALimitOfARoute() {
        call("/route");
        try {
            set("ratelimit.limits.gateway-route.plans.pro.rate", "9/d");
            assertThat(gateway.log())
                    .contains("ratelimit.limits.gateway-route must not have plans here, because the filter hands over the"
                            + " key alone.")
                    .contains("keeping the present ones");
            call("/route");
            assertRejected("/route", "gateway-route");
        } finally {
            assertThat(gateway.send("DELETE", "/actuator/env", "").statusCode()).isEqualTo(200);
        }
    }

    private static void changeRate(String rate) {
        set("ratelimit.limits.gateway-refreshed.rate", rate);
    }

    private static void set(String property, String value) {
        HttpResponse<String> changed = gateway.send(
                "POST", "/actuator/env", "{\"name\": \"" + property + "\", \"value\": \"" + value + "\"}");
        assertThat(changed.statusCode()).as(changed.body()).isEqualTo(200);
    }

    private static String refreshedRate() {
        return gateway.json("/actuator/ratelimits/gateway-refreshed", "$.rate");
    }

    @Test
    void theEndpointHasTheAccessThatTheApplicationPermits() {
        String path = "/actuator/ratelimits/gateway-url";
        assertThat(gateway.get(path).statusCode()).isEqualTo(200);
        assertThat(gateway.send("POST", path, "{\"capacity\": 9}").statusCode())
                .isEqualTo(405);
        assertThat(gateway.send("DELETE", path, "").statusCode()).isEqualTo(405);
        assertThat(gateway.<Integer>json(path, "$.capacity")).isEqualTo(2);
        assertThat(withoutRedis.get(path).statusCode()).isEqualTo(404);
    }

    private HttpResponse<String> call(String path) {
        return gateway.allowed(path, "X-Api-Key", key);
    }

    private void assertRejected(String path, String limit) {
        assertRejected(gateway, path, limit);
    }

    private void assertRejected(Application gateway, String path, String limit) {
        HttpResponse<String> response = gateway.get(path, "X-Api-Key", key);
        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(response.headers().firstValue("RateLimit").orElse("")).startsWith('"' + limit + "\";r=");
        assertThat(response.headers().allValues("Retry-After")).singleElement().satisfies(seconds -> assertThat(
                        Long.parseLong(seconds))
                .isBetween(1L, 86_400L));
    }
}
