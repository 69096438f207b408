package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** A resource of JAX-RS without Spring MVC, and without a mapper of its own. */
class JerseyTests {

    private static final Application APPLICATION = Application.start("jersey");

    @Test
    void aRejectedCallIsAProblemWithTheTimeToWait() {
        HttpResponse<String> allowed = APPLICATION.allowed("/quotes/alice");
        assertThat(allowed.body()).isEqualTo("42");
        assertThat(allowed.headers().allValues("RateLimit")).containsExactly("\"quotes\";r=0;t=86400");
        HttpResponse<String> rejection = APPLICATION.get("/quotes/alice");
        assertThat(rejection.statusCode()).as(rejection.body()).isEqualTo(429);
        assertThat(rejection.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(rejection.headers().firstValueAsLong("Retry-After").orElseThrow())
                .isBetween(86_000L, 86_400L);
        assertThat(rejection.headers().allValues("RateLimit-Policy")).containsExactly("\"quotes\";q=1;w=86400");
        assertThat(rejection.headers().allValues("RateLimit"))
                .singleElement()
                .asString()
                .startsWith("\"quotes\";r=0;t=86");
        assertThat(rejection.body())
                .contains(
                        "\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\"",
                        "\"title\":\"Request cannot be satisfied as assigned quota has been exceeded\"",
                        "\"status\":429",
                        "\"detail\":\"Rate limit 'quotes' exceeded\"",
                        "\"instance\":\"/quotes/alice\"",
                        "\"violated-policies\":[\"quotes\"]");
        APPLICATION.allowed("/quotes/bob");
        assertThat(APPLICATION.log()).doesNotContain("RateLimitExceededException");
    }
}
