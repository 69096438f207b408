package io.ratelimit.web;

import io.ratelimit.Charge;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.aop.CallerRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The servlet request that the current thread handles. */
public final class ServletCallerRequests implements CallerRequest.Source {

    @Override
    public @Nullable CallerRequest current() {
        return RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes
                ? new ServletCallerRequest(attributes.getRequest())
                : null;
    }

    /** A request that is not yet the thread's, because a filter sees it first. */
    public static CallerRequest of(HttpServletRequest request) {
        return new ServletCallerRequest(request);
    }

    private record ServletCallerRequest(HttpServletRequest request) implements CallerRequest {

        @Override
        public String clientIp() {
            return request.getRemoteAddr();
        }

        @Override
        public @Nullable Principal principal() {
            return request.getUserPrincipal();
        }

        @Override
        public @Nullable String header(String name) {
            return request.getHeader(name);
        }

        @Override
        public void onDecisions(List<Charge> charges, List<RateLimitDecision> decisions) {}
    }
}
