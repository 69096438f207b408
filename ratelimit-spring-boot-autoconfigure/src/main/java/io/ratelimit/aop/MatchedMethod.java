package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;

/**
 * A method with an annotation or a matching pointcut. Its limits are resolved later, when all limits are declared, because an
 * annotation on another method may declare the limit of a pointcut.
 *
 * @param resolved resolves the limits once
 */
record MatchedMethod(
        Method method, boolean annotated, List<LimitPointcut> pointcuts, Supplier<LimitedMethod> resolved) {

    LimitedMethod limited() {
        return resolved.get();
    }

    /** Returns the annotation or property that limits the method, for messages. */
    String limitedBy() {
        return annotated ? "@RateLimited" : pointcuts.get(0).property();
    }
}
