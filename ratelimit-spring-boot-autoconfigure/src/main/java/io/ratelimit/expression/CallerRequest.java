package io.ratelimit.expression;

import io.ratelimit.Charge;
import io.ratelimit.limiter.CallListener;
import java.security.Principal;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The web request during which a method is called: what expressions may ask of it. Hears what the call's limits say. */
public interface CallerRequest extends CallListener {

    /** The address the container reports; what to make of forwarded headers is the container's business. */
    String clientIp();

    /** Who is logged in; {@code null}: nobody. */
    @Nullable
    Principal principal();

    /** The first header of this name; {@code null}: none. */
    @Nullable
    String header(String name);

    /** Those of the charges that this request has not paid before it was dispatched anew: forwarded, or to an error page. */
    default List<Charge> unpaid(List<Charge> charges) {
        return charges;
    }

    /** The request of the current thread. */
    @FunctionalInterface
    interface Source {

        /** The request, or {@code null} outside of one. */
        @Nullable
        CallerRequest current();

        /** Makes of a task one that, run on another thread, finds the request of this one. */
        default Runnable carriedBy(Runnable task) {
            return task;
        }

        /** What is known wherever there is a request. */
        default CallerFacts facts() {
            return CallerFacts.REQUEST;
        }

        /** For an application whose threads handle no requests. */
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
