package io.ratelimit.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.web.StructuredFields.Item;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonParserFactory;

/** What a server has answered. Whatever it is, its rate limit fields are well-formed. */
final class HttpAnswer {

    private final HttpResponse<String> response;

    HttpAnswer(HttpResponse<String> response) {
        this.response = response;
        checkIetfFields();
        for (String name : List.of("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After")) {
            assertThat(response.headers().allValues(name)).hasSizeLessThan(2).allMatch(value -> value.matches("\\d+"));
        }
    }

    private void checkIetfFields() {
        List<String> policies = response.headers().allValues("RateLimit-Policy");
        List<String> limits = response.headers().allValues("RateLimit");
        assertThat(policies).hasSameSizeAs(limits).hasSizeLessThan(2);
        if (!policies.isEmpty()) {
            List<Item> policy = StructuredFields.list(policies.get(0));
            List<Item> limit = StructuredFields.list(limits.get(0));
            assertThat(limit.stream().map(Item::string))
                    .doesNotHaveDuplicates()
                    .containsExactlyElementsOf(policy.stream().map(Item::string).toList());
            assertThat(policy).allSatisfy(item -> {
                assertThat(item.parameters()).containsOnlyKeys("q", "w");
                assertThat(item.integer("q")).isPositive();
                assertThat(item.integer("w")).isPositive();
            });
            assertThat(limit).allSatisfy(item -> {
                assertThat(item.parameters()).containsOnlyKeys("r", "t");
                assertThat(item.integer("r")).isNotNegative();
                assertThat(item.integer("t")).isNotNegative();
            });
        }
    }

    int status() {
        return response.statusCode();
    }

    String body() {
        return response.body();
    }

    /** The body, which is a problem. */
    Map<String, Object> problem() {
        assertThat(header("Content-Type")).isEqualTo("application/problem+json");
        return JsonParserFactory.getJsonParser().parseMap(body());
    }

    /** The field's only value; {@code null}: it is not there. */
    @Nullable
    String header(String name) {
        assertThat(response.headers().allValues(name)).hasSizeLessThan(2);
        return response.headers().firstValue(name).orElse(null);
    }

    Map<String, List<String>> headers() {
        return response.headers().map();
    }

    HttpAnswer isAllowed(@Nullable String limits) {
        assertThat(status()).as(body()).isEqualTo(200);
        assertThat(header("RateLimit")).isEqualTo(limits);
        assertThat(header("Retry-After")).isNull();
        return this;
    }

    HttpAnswer isRejected(@Nullable String limits, @Nullable String retryAfter, String... violated) {
        assertThat(status()).as(body()).isEqualTo(429);
        assertThat(header("RateLimit")).isEqualTo(limits);
        assertThat(header("Retry-After")).isEqualTo(retryAfter);
        assertThat(problem()).containsEntry("violated-policies", List.of(violated));
        return this;
    }

    @Override
    public String toString() {
        return status() + " " + headers() + " " + body();
    }
}
