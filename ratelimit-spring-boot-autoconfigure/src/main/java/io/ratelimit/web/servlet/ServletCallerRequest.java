package io.ratelimit.web.servlet;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** Answers expressions from a servlet request. */
record ServletCallerRequest(HttpServletRequest servlet, WebSettings settings) implements CallerRequest {

    @Override
    public String clientIp() {
        return settings.clientAddress(servlet.getRemoteAddr());
    }

    @Override
    public @Nullable Principal principal() {
        return servlet.getUserPrincipal();
    }

    @Override
    public @Nullable String header(String name) {
        return servlet.getHeader(name);
    }
}
