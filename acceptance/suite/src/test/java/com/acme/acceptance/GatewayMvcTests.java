package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** Routes of Spring Cloud Gateway on Spring MVC to a service of this test. */
class GatewayMvcTests {

    private static HttpServer upstream;

    private static Application gateway;

    private final String key = UUID.randomUUID().toString();

    @BeforeAll
    static void start() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        upstream.start();
        gateway = gateway();
    }

    private static Application gateway(String... properties) {
        String uri = "upstream=http://127.0.0.1:" + upstream.getAddress().getPort();
        return Application.start(
                "gateway-mvc",
                Stream.of(Stream.of(uri), Stream.of(Application.redis().properties()), Stream.of(properties))
                        .flatMap(some -> some)
                        .toArray(String[]::new));
    }

    @AfterAll
    static void stop() {
        upstream.stop(0);
    }

    @Test
    void aRuleForUrlsLimitsARoute() {
        assertLimited("gateway-url", "/url/" + key);
    }

    @Test
    void theFilterAppliesTheLimitThatItNames() {
        assertLimited("gateway-short", "/short/" + key);
        gateway.allowed("/short/" + key + "-other");
    }

    @Test
    void theFilterHasAnArgumentWithAName() {
        assertLimited("gateway-long", "/long", "X-Api-Key", key);
        assertThat(gateway.get("/long").statusCode()).isEqualTo(400);
    }

    @Test
    void theFilterIsForRoutesInJavaToo() {
        assertLimited("gateway-coded", "/coded/" + key);
    }

    private static void assertLimited(String limit, String path, String... headers) {
        assertThat(gateway.allowed(path, headers).headers().firstValue("RateLimit").orElse(""))
                .startsWith('"' + limit + "\";r=1");
        gateway.allowed(path, headers);
        gateway.rejected(limit, path, headers);
    }

    @Test
    void aRouteWithAnUnknownLimitStopsTheStart() {
        Application mistaken = gateway("limit-of-short=gateway-shot");
        assertThat(mistaken.logOfEnd())
                .contains("filter RateLimit.limit must be the name of a limit (was \"gateway-shot\").")
                .contains("route 'short'")
                .contains("Did you mean 'gateway-short'?");
    }

    /** Generated code has what was on when it was generated, and refuses to start without it. */
    @Test
    @DisabledIfSystemProperty(named = "acceptance.jvm-options", matches = ".*spring\\.aot\\.enabled=true.*")
    void disabledLimitsLimitNoRoute() {
        Application unlimited = gateway("ratelimit.enabled=false");
        for (int call = 1; call <= 4; call++) {
            unlimited.allowed("/short/" + key);
            unlimited.allowed("/coded/" + key);
        }
    }
}
