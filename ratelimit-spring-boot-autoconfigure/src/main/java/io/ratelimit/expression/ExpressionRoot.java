package io.ratelimit.expression;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/** The root object of expressions of a method call. Public, because SpEL compiles access to public types only. */
public final class ExpressionRoot extends RequestRoot {

    ExpressionRoot(Evaluation evaluation) {
        super(evaluation);
    }

    public @Nullable Method getMethod() {
        return evaluation.method();
    }

    public @Nullable Object getTarget() {
        return evaluation.target();
    }

    public @Nullable Object[] getArgs() {
        return evaluation.arguments();
    }
}
