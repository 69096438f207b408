package io.ratelimit.jaxrs;

import io.ratelimit.web.HeaderRecord;
import io.ratelimit.web.ProblemResponses;
import jakarta.annotation.Priority;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.glassfish.jersey.spi.ExtendedExceptionMapper;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.json.JsonWriter;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponse;

/**
 * Answers a rejection in Jersey, also one that is the cause of another exception, with the problem and the fields of Spring MVC. Jersey
 * prefers mappers of the application for types of the rate limiter, because they are more specific, and this one to those for all
 * exceptions. Writes the text of the problem, because the application may have no provider of JSON, or one that does not know Spring's
 * problems.
 */
@Priority(1)
public final class RejectionMapper implements ExtendedExceptionMapper<RuntimeException> {

    private final ProblemResponses problems;

    /** Of the request that the current thread handles. */
    @Context
    private @Nullable UriInfo uri;

    @Context
    private @Nullable HttpHeaders request;

    public RejectionMapper(ProblemResponses problems) {
        this.problems = problems;
    }

    @Override
    public boolean isMappable(RuntimeException failure) {
        return !(failure instanceof WebApplicationException)
                && problems.settings().find(failure) != null;
    }

    @Override
    public Response toResponse(RuntimeException failure) {
        HeaderRecord record = new HeaderRecord();
        ErrorResponse problem = Objects.requireNonNull(problems.of(
                failure,
                Objects.requireNonNull(uri).getRequestUri().getRawPath(),
                Objects.requireNonNull(request).getAcceptableLanguages().get(0),
                record));
        Response.ResponseBuilder response = Response.status(problem.getBody().getStatus())
                .type(MediaType.APPLICATION_PROBLEM_JSON_VALUE)
                .header(HttpHeaders.RETRY_AFTER, problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER))
                .entity(json(problem.getBody()));
        record.write(problems.settings().headers(), false, response::header);
        return response.build();
    }

    /** Uses what has the same signature in both generations of Spring Boot. */
    private static String json(ProblemDetail problem) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("type", problem.getType());
        members.put("title", problem.getTitle());
        members.put("status", problem.getStatus());
        members.put("detail", problem.getDetail());
        members.put("instance", problem.getInstance());
        members.putAll(Objects.requireNonNullElse(problem.getProperties(), Map.of()));
        members.values().removeIf(Objects::isNull);
        return JsonWriter.standard().writeToString(members);
    }
}
