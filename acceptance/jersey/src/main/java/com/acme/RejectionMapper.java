package com.acme;

import io.ratelimit.RateLimitExceededException;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import java.time.Duration;

@Provider
public class RejectionMapper implements ExceptionMapper<RateLimitExceededException> {

    @Override
    public Response toResponse(RateLimitExceededException rejection) {
        Duration wait = rejection.getDecision().retryAfter();
        return Response.status(429)
                .header("Retry-After", wait == null ? null : wait.toSeconds() + 1)
                .type("application/problem+json")
                .entity("{\"status\": 429, \"title\": \"Too Many Requests\"}")
                .build();
    }
}
