package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The root object of expressions. Public, so that they can be compiled. */
public final class ExpressionRoot {

    private final Method method;

    private final @Nullable Object target;

    private final @Nullable Object[] args;

    private final @Nullable CallerRequest request;

    ExpressionRoot(Method method, @Nullable Object target, @Nullable Object[] args, @Nullable CallerRequest request) {
        this.method = method;
        this.target = target;
        this.args = args;
        this.request = request;
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

    public String getClientIp() {
        return request().clientIp();
    }

    public @Nullable Principal getPrincipal() {
        return request().principal();
    }

    public @Nullable String header(String name) {
        return request().header(name);
    }

    private CallerRequest request() {
        if (request == null) {
            throw new IllegalStateException("clientIp, principal and header() need a web request, and there is none");
        }
        return request;
    }
}
