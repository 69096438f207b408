package io.ratelimit.expression;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The root object of expressions of a method call. Public, because SpEL compiles access to public types only. */
public final class ExpressionRoot extends RequestRoot {

    private final Method method;

    private final @Nullable Object target;

    private final @Nullable Object[] args;

    ExpressionRoot(Method method, @Nullable Object target, @Nullable Object[] args, @Nullable CallerRequest request) {
        super(request);
        this.method = method;
        this.target = target;
        this.args = args;
    }

    public Method getMethod() {
        return method;
    }

    public @Nullable Object getTarget() {
        return target;
    }

    public @Nullable Object[] getArgs() {
        return args;
    }
}
