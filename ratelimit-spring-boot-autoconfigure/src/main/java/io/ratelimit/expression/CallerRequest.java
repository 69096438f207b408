package io.ratelimit.expression;

import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.spi.Charge;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The web request during which a method is called, as expressions read it. Receives the decisions about the call. */
public interface CallerRequest extends CallListener {

    /** Returns the remote address reported by the server, which also handles forwarded headers. */
    String clientIp();

    /** Returns the authenticated principal, or {@code null}. */
    @Nullable
    Principal principal();

    /** Returns the first header of this name, or {@code null}. */
    @Nullable
    String header(String name);

    /** Returns the charges that were not made before the request was dispatched again, by a forward or to an error page. */
    default List<Charge> unpaid(List<Charge> charges) {
        return charges;
    }

    /**
     * Follows a result that another thread completes after its method has returned it.
     *
     * @param end receives the end of the call
     * @return whether the result is completed later; {@code false} if it is complete, or its end cannot be observed
     */
    default boolean follow(Object result, CallEnd end) {
        return false;
    }

    /** Finds the request of the current thread. */
    @FunctionalInterface
    interface Source {

        /** Returns the request, or {@code null} outside of a request. */
        @Nullable
        CallerRequest current();

        /** Wraps a task so that it finds the current request on another thread. */
        default Runnable carriedBy(Runnable task) {
            return task;
        }

        /** Returns what expressions can read during a request. */
        default CallerFacts facts() {
            return CallerFacts.REQUEST;
        }

        /** Returns the source of an application whose threads handle no requests. */
        static Source none() {
            return new Source() {
                @Override
                public @Nullable CallerRequest current() {
                    return null;
                }

                @Override
                public CallerFacts facts() {
                    return CallerFacts.NONE;
                }
            };
        }
    }
}
