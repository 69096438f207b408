package io.ratelimit.aop;

import io.ratelimit.RateLimitGate;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/** Asks before each call of a limited method. */
public final class RateLimitInterceptor implements MethodInterceptor {

    private final LimitedMethods methods;

    private final Supplier<RateLimitGate> gate;

    /** @param gate asked for at the first call, so that the store is not created before its time */
    public RateLimitInterceptor(LimitedMethods methods, Supplier<RateLimitGate> gate) {
        this.methods = methods;
        this.gate = gate;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = invocation.getMethod();
        FoundMethod found = methods.find(method, target != null ? target.getClass() : method.getDeclaringClass());
        if (found == null) {
            return invocation.proceed();
        }
        LimitedMethod limited = found.limited();
        return limited.style().call(new LimitedCall(limited, invocation, gate.get()));
    }
}
