package io.ratelimit.web.openapi;

import io.ratelimit.RateLimit;
import io.ratelimit.web.HeaderFormat;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Adds the responses of a limited operation to its description. What the operation describes itself is kept. */
record LimitDescriptions(HeaderFormat format) {

    private static final String REJECTED = "429";

    /**
     * Describes limits.
     *
     * @param limits may be empty; those in dry run change no response
     * @param rejecting whether a rejection is a response with 429
     */
    void describe(Operation operation, List<RateLimit> limits, boolean rejecting) {
        List<RateLimit> enforced =
                limits.stream().filter(limit -> !limit.dryRun()).toList();
        if (enforced.isEmpty()) {
            return;
        }
        if (operation.getResponses() == null) {
            operation.setResponses(new ApiResponses());
        }
        ApiResponses responses = operation.getResponses();
        responses.forEach((status, response) -> {
            // A reference may be shared with operations that are not limited.
            if (status.startsWith("2") && response.get$ref() == null) {
                headers().forEach((name, header) -> addHeader(response, name, header));
            }
        });
        if (!rejecting) {
            return;
        }
        ApiResponse rejection = responses.computeIfAbsent(REJECTED, status -> rejection());
        if (rejection instanceof RejectionResponse described) {
            described.add(enforced);
        }
    }

    private ApiResponse rejection() {
        ApiResponse rejection = new RejectionResponse();
        rejection.addHeaderObject("Retry-After", integer("Seconds until the same call can succeed"));
        headers().forEach(rejection::addHeaderObject);
        return rejection;
    }

    private static void addHeader(ApiResponse response, String name, Header header) {
        if (response.getHeaders() == null || !response.getHeaders().containsKey(name)) {
            response.addHeaderObject(name, header);
        }
    }

    private Map<String, Header> headers() {
        Map<String, Header> headers = new LinkedHashMap<>();
        if (format.ietf()) {
            headers.put("RateLimit-Policy", header("The limits: capacity q, window w in seconds", new StringSchema()));
            headers.put(
                    "RateLimit",
                    header("The caller's quota: remaining permits r, seconds t until more", new StringSchema()));
        }
        if (format.legacy()) {
            headers.put("X-RateLimit-Limit", integer("The capacity of the tightest limit"));
            headers.put("X-RateLimit-Remaining", integer("The remaining permits"));
            headers.put("X-RateLimit-Reset", integer("Seconds until there are more permits"));
        }
        return headers;
    }

    private static Header integer(String description) {
        return header(description, new IntegerSchema().format(null));
    }

    private static Header header(String description, Schema<?> schema) {
        return new Header().description(description).schema(schema);
    }
}
