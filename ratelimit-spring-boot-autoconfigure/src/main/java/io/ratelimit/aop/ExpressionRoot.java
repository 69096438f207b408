package io.ratelimit.aop;

import java.lang.reflect.Method;
import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The root object of expressions. Public, so that they can be compiled. */
public final class ExpressionRoot {

    private final Method method;

    private final @Nullable Object target;

    private final @Nullable Object[] args;

    private final CallerRequest.@Nullable Source requests;

    ExpressionRoot(
            Method method, @Nullable Object target, @Nullable Object[] args, CallerRequest.@Nullable Source requests) {
        this.method = method;
        this.target = target;
        this.args = args;
        this.requests = requests;
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
        CallerRequest request = requests == null ? null : requests.current();
        if (request == null) {
            throw new IllegalStateException("clientIp, principal and header() need a web request, and there is none");
        }
        return request;
    }
}
