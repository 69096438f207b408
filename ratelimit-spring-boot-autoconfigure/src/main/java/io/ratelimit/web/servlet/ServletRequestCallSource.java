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

    /**
     * Spring, too, finds the request on the other thread. The attributes are new: Spring completes the caller's when that thread
     * leaves the request, which goes on asynchronously.
     */
    @Override
    public Runnable carriedBy(Runnable task) {
        RequestAttributes callers = RequestContextHolder.getRequestAttributes();
        return RequestCall.Source.<@Nullable RequestAttributes>carrying(
                callers instanceof ServletRequestAttributes known
                        ? new ServletRequestAttributes(known.getRequest(), known.getResponse())
                        : callers,
                RequestContextHolder::getRequestAttributes,
                RequestContextHolder::setRequestAttributes,
                task);
    }
}
