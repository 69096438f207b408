package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Supplier;
import org.springframework.util.function.SingletonSupplier;

/**
 * A method that something limits. What that comes to is worked out when all declarations are in, or at the first call: the
 * limit of a pointcut may be declared by an annotation that is yet to be found.
 */
final class FoundMethod {

    private final Method method;

    private final boolean annotated;

    private final List<LimitPointcut> pointcuts;

    private final SingletonSupplier<LimitedMethod> limited;

    FoundMethod(Method method, boolean annotated, List<LimitPointcut> pointcuts, Supplier<LimitedMethod> limited) {
        this.method = method;
        this.annotated = annotated;
        this.pointcuts = pointcuts;
        this.limited = SingletonSupplier.of(limited);
    }

    Method method() {
        return method;
    }

    List<LimitPointcut> pointcuts() {
        return pointcuts;
    }

    LimitedMethod limited() {
        return limited.obtain();
    }

    /** Annotation or property, whichever its author has to look at. */
    String limitedBy() {
        return annotated ? "@RateLimited" : pointcuts.get(0).property();
    }
}
