package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds in every application. A new case is a path of {@code QuoteController} and a test or a value here. */
abstract class AbstractLimitTests {

    /** A bucket that no other test uses. */
    final String key = UUID.randomUUID().toString().replace('-', 'x');

    abstract Application application();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "plain", "future", "mono", "flux", "pointcut", "token-bucket", "fixed-window", "sliding-window",
                "sliding-window-log"
            })
    void theThirdCallOfAKeyIsRejected(String path) {
        for (int call = 1; call <= 2; call++) {
            HttpResponse<String> allowed = get("/" + path + "?key=" + key);
            assertThat(allowed.statusCode()).as(allowed.body()).isEqualTo(200);
            assertThat(allowed.body()).isEqualTo(path);
        }
        assertThat(get("/" + path + "?key=" + key).statusCode()).isEqualTo(429);
        assertThat(get("/" + path + "?key=other" + key).statusCode()).isEqualTo(200);
    }

    /** Otherwise the runs with AOT processing would prove nothing. */
    @Test
    void theApplicationIsConfiguredAsTheRunAsks() {
        boolean generated = System.getProperty("acceptance.jvm-options", "").contains("spring.aot.enabled=true");

        assertThat(application().log()).contains("configured by " + (generated ? "generated code" : "annotations"));
    }

    @Test
    void aRejectionIsAProblem() {
        spend("/mono?key=" + key);

        HttpResponse<String> rejected = get("/mono?key=" + key);

        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(Long.parseLong(rejected.headers().firstValue("Retry-After").orElseThrow()))
                .isBetween(1L, 43_200L);
        assertThat(JsonPath.<String>read(rejected.body(), "$.type"))
                .isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded");
        assertThat(JsonPath.<Integer>read(rejected.body(), "$.status")).isEqualTo(429);
        assertThat(JsonPath.<List<String>>read(rejected.body(), "$['violated-policies']"))
                .containsExactly("mono");
    }

    @Test
    void anAllowedCallShowsTheQuotaLeft() {
        HttpResponse<String> allowed = get("/mono?key=" + key);

        assertThat(allowed.headers().firstValue("RateLimit-Policy")).hasValue("\"mono\";q=2;w=86400");
        assertThat(allowed.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"mono\";r=1;t=");
    }

    /** Two calls, which take all permits. */
    final void spend(String path, String... headers) {
        for (int call = 1; call <= 2; call++) {
            HttpResponse<String> allowed = get(path, headers);
            assertThat(allowed.statusCode()).as(allowed.body()).isEqualTo(200);
        }
    }

    final HttpResponse<String> get(String path, String... headers) {
        return application().get(path, headers);
    }
}
