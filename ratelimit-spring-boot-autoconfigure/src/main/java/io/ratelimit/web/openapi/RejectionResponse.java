package io.ratelimit.web.openapi;

import io.ratelimit.RateLimit;
import io.swagger.v3.oas.models.media.ArraySchema;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.IntegerSchema;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.ObjectSchema;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.media.StringSchema;
import io.swagger.v3.oas.models.responses.ApiResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Describes the starter's 429. A response of this type may get more limits, in contrast to the application's own. */
final class RejectionResponse extends ApiResponse {

    private final Map<String, String> texts = new LinkedHashMap<>();

    RejectionResponse() {
        Schema<?> problem = new ObjectSchema()
                .addProperty("type", new StringSchema().format("uri-reference"))
                .addProperty("title", new StringSchema())
                .addProperty("status", new IntegerSchema())
                .addProperty("detail", new StringSchema())
                .addProperty("instance", new StringSchema().format("uri-reference"))
                .addProperty("violated-policies", new ArraySchema().items(new StringSchema()));
        setContent(new Content().addMediaType("application/problem+json", new MediaType().schema(problem)));
    }

    void add(List<RateLimit> limits) {
        limits.forEach(limit -> texts.put(
                limit.name(),
                "'" + limit.name() + "' (capacity " + limit.capacity()
                        + (limit.hasRate() ? ", rate " + rate(limit) : " at once") + ")"));
        setDescription(texts.values().stream().collect(Collectors.joining(" or ", "Rate limit ", " exceeded")));
    }

    private static String rate(RateLimit limit) {
        return limit.rate() + (limit.rate().calendarUnit() == null ? "" : " in " + limit.zone());
    }
}
