package io.ratelimit.expression;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Answers what expressions ask about a web request. */
public interface CallerRequest {

    /** Returns the remote address reported by the server, which also handles forwarded headers. */
    String clientIp();

    /** Returns the authenticated principal, or {@code null}. */
    @Nullable
    Principal principal();

    /** Returns the first header of this name, or {@code null}. */
    @Nullable
    String header(String name);
}
