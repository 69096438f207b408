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
        Carried own = callers instanceof ServletRequestAttributes known ? new Carried(known) : null;
        return RequestCall.Source.<@Nullable RequestAttributes>carrying(
                own == null ? callers : own,
                RequestContextHolder::getRequestAttributes,
                RequestContextHolder::setRequestAttributes,
                own == null
                        ? task
                        : () -> {
                            try {
                                task.run();
                            } finally {
                                own.updateAccessedSessionAttributes();
                            }
                        });
    }

    /** The attributes of the other thread. */
    private static final class Carried extends ServletRequestAttributes {

        private final ServletRequestAttributes callers;

        Carried(ServletRequestAttributes callers) {
            super(callers.getRequest(), callers.getResponse());
            this.callers = callers;
        }

        /** The caller may still use a bean that this thread has created: it ends with the caller's attributes. */
        @Override
        public void registerDestructionCallback(String name, Runnable callback, int scope) {
            if (scope == SCOPE_REQUEST) {
                callers.registerDestructionCallback(name, callback, scope);
            } else {
                super.registerDestructionCallback(name, callback, scope);
            }
        }

        @Override
        protected void updateAccessedSessionAttributes() {
            super.updateAccessedSessionAttributes();
        }
    }
}
