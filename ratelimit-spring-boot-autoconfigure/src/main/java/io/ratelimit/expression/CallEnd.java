package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;

/** Receives the end of a call whose method has returned before its result was complete. Only the first end counts. */
public interface CallEnd {

    /** Notes a result: the value that was computed, or one of those that a stream emits. */
    void add(@Nullable Object result);

    /** Ends a call whose results have been noted. */
    void completed();

    /** Ends a call that has failed. */
    void failed(Throwable failure);

    /** Ends a call that was cancelled, or whose results cannot be observed. */
    void cancelled();

    /**
     * Ends a call whose result is an object that has written the response, and knows what it has used so far.
     *
     * @param failure {@code null} if the response is complete or the client has disconnected
     */
    void written(Object result, @Nullable Throwable failure);
}
