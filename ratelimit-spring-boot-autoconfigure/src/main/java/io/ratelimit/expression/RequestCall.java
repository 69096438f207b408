package io.ratelimit.expression;

import io.ratelimit.internal.limiter.CallListener;
import io.ratelimit.spi.Charge;
import java.security.Principal;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A call during a request. Where it has a response with headers, what limits decide about the call becomes part of that. */
public interface RequestCall extends CallListener {

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

    /** Returns the same call, which may end, or be refunded, while the request is dispatched again: that one pays for itself. */
    default RequestCall endingAnyTime() {
        return this;
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

        /** The source of an application whose threads handle no requests. */
        Source NONE = () -> null;

        /** Returns a call during the request, or {@code null} outside of a request. */
        @Nullable
        RequestCall current();

        /** Wraps a task so that it finds the current request on another thread. */
        default Runnable carriedBy(Runnable task) {
            return task;
        }

        /**
         * Wraps a task so that the thread which runs it meanwhile has another value.
         *
         * @param value the one of the caller's thread
         * @param get returns the value of the current thread
         * @param set changes the value of the current thread
         */
        static <T extends @Nullable Object> Runnable carrying(
                T value, Supplier<T> get, Consumer<T> set, Runnable task) {
            return () -> {
                T own = get.get();
                set.accept(value);
                try {
                    task.run();
                } finally {
                    set.accept(own);
                }
            };
        }

        /** Returns what expressions can read during a request. */
        default CallerFacts facts() {
            return this == NONE ? CallerFacts.NONE : CallerFacts.REQUEST;
        }
    }
}
