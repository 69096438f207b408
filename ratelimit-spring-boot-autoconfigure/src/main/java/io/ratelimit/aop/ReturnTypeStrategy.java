package io.ratelimit.aop;

import org.jspecify.annotations.Nullable;

/** Makes limited calls of methods with a certain return type: waits for the decision and reports a rejection. */
interface ReturnTypeStrategy {

    /** Returns the result of the method or of its fallback, or reports the rejection. */
    @Nullable
    Object call(LimitedCall call) throws Throwable;

    /** Returns whether the calling thread blocks. */
    default boolean blocks() {
        return false;
    }
}
