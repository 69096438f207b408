package io.ratelimit.web.servlet;

import io.ratelimit.expression.RequestCall;
import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** Finds the servlet request of the current thread. */
public record ServletRequestCallSource(WebSettings settings) implements RequestCall.Source {

    @Override
    public @Nullable RequestCall current() {
        if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes) {
            try {
                return new ServletRequestCall(attributes.getRequest(), settings, ChargedBuckets.Payer.METHOD);
            } catch (IllegalStateException over) {
                // A task on another thread still has the attributes, but the request has ended.
                return null;
            }
        }
        return null;
    }

    /** Carries all request attributes, so that Spring finds the request on the other thread, too. */
    @Override
    public Runnable carriedBy(Runnable task) {
        RequestAttributes attributes = RequestContextHolder.getRequestAttributes();
        if (attributes == null) {
            return task;
        }
        return () -> {
            RequestAttributes own = RequestContextHolder.getRequestAttributes();
            RequestContextHolder.setRequestAttributes(attributes);
            try {
                task.run();
            } finally {
                RequestContextHolder.setRequestAttributes(own);
            }
        };
    }
}
