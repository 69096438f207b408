package io.ratelimit.expression;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The root object of expressions of a web request. Public, because SpEL compiles access to public types only. */
public class RequestRoot {

    private final @Nullable CallerRequest request;

    /** @param request {@code null} outside of a request */
    RequestRoot(@Nullable CallerRequest request) {
        this.request = request;
    }

    public String getClientIp() {
        return request().clientIp();
    }

    public @Nullable Principal getPrincipal() {
        return request().principal();
    }

    public @Nullable String header(String name) {
        return request().header(name);
    }

    boolean hasRequest() {
        return request != null;
    }

    private CallerRequest request() {
        if (request == null) {
            throw new IllegalStateException("clientIp, principal and header() must be used during a web request");
        }
        return request;
    }
}
