package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Other limiters, and other libraries that use Redis, work beside the starter. Not all of them can be processed ahead of time. */
@DisabledIfSystemProperty(named = "acceptance.jvm-options", matches = ".*spring\\.aot\\.enabled=true.*")
class NeighboursTests {

    private static Application neighbours;

    private static Application unlimited;

    private final String key = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        neighbours = start("ratelimit.redis.key-prefix=neighbours");
        unlimited = start("ratelimit.enabled=false");
    }

    private static Application start(String property) {
        return Application.start(
                "neighbours",
                Stream.concat(Stream.of(property), Stream.of(Application.redis().properties()))
                        .toArray(String[]::new));
    }

    /** The starter allows two calls by a key, the other limiter three by all keys. */
    @ParameterizedTest
    @ValueSource(strings = {"resilience4j", "bucket4j", "redisson"})
    void bothLimitersLimit(String neighbour) {
        String path = "/" + neighbour + "?key=";
        neighbours.allowed(path + key);
        neighbours.allowed(path + key);
        neighbours.rejected("beside-" + neighbour, path + key);
        List<Integer> others = Stream.of("a", "b")
                .map(other -> neighbours.get(path + other).statusCode())
                .toList();
        assertThat(others).endsWith(503).isSubsetOf(200, 503);
    }

    @Test
    void sentinelLimitsOtherMethods() {
        neighbours.allowed("/sentinel?key=" + key);
        neighbours.allowed("/sentinel?key=" + key);
        neighbours.rejected("beside-sentinel", "/sentinel?key=" + key);
        assertThat(neighbours.get("/sentinel-rejects").statusCode()).isEqualTo(503);
    }

    @Test
    void circuitBreakerCalls() {
        assertThat(neighbours.allowed("/circuit-breaker").body()).isEqualTo("allowed");
    }

    @Test
    void sessionIsInRedis() {
        String cookie = neighbours
                .allowed("/session?key=" + key)
                .headers()
                .firstValue("Set-Cookie")
                .orElseThrow()
                .replaceAll(";.*", "");
        assertThat(neighbours.allowed("/session?key=" + key, "Cookie", cookie).body())
                .endsWith(" 2");
        neighbours.rejected("beside-session", "/session?key=" + key, "Cookie", cookie);
    }

    @Test
    void otherLimiterLimitsIfThisOneIsOff() {
        for (int call = 1; call <= 3; call++) {
            unlimited.allowed("/resilience4j?key=" + key);
        }
        assertThat(unlimited.get("/resilience4j?key=" + key).statusCode()).isEqualTo(503);
    }
}
