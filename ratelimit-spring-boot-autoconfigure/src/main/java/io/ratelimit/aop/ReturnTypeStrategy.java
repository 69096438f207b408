package io.ratelimit.aop;

import org.jspecify.annotations.Nullable;

/** What becomes of a call, by what the method returns: who waits for the decision, and how the caller hears of it. */
interface ReturnTypeStrategy {

    /** What the caller gets: the method's result, its fallback's, or the rejection in the type's own way. */
    @Nullable
    Object call(LimitedCall call) throws Throwable;

    /** Whether it is the calling thread that waits. */
    default boolean waits() {
        return false;
    }

    /** Whether it learns that the method has failed, and so can give back what it took. */
    default boolean seesFailures() {
        return true;
    }
}
