package io.ratelimit.aop;

import org.jspecify.annotations.Nullable;

/** Makes limited calls of methods with a certain return type: waits for the decision and reports a rejection. */
@FunctionalInterface
interface ReturnTypeStrategy {

    /** Returns the result of the method or of its fallback, or reports the rejection. */
    @Nullable
    Object call(LimitedCall call) throws Throwable;
}
