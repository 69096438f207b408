package io.ratelimit.web.servlet;

import io.ratelimit.expression.CallerRequest;
import io.ratelimit.web.WebSettings;
import org.jspecify.annotations.Nullable;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The servlet request that the current thread handles, or does something for. */
public final class ServletCallerRequests implements CallerRequest.Source {

    private final WebSettings settings;

    public ServletCallerRequests(WebSettings settings) {
        this.settings = settings;
    }

    @Override
    public @Nullable CallerRequest current() {
        if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes) {
            try {
                return ServletCallerRequest.of(attributes.getRequest(), settings);
            } catch (IllegalStateException over) {
                // A task has taken the attributes to another thread, and the request ended before it.
                return null;
            }
        }
        return null;
    }

    /** The whole of the attributes, so that others find the request as well. */
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
