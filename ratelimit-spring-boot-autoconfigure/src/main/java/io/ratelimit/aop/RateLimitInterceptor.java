package io.ratelimit.aop;

import io.ratelimit.CallListener;
import io.ratelimit.Charge;
import io.ratelimit.Entry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitGate;
import java.lang.reflect.Method;
import java.util.List;
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
        LimitedMethod limited = methods.find(method, target != null ? target.getClass() : method.getDeclaringClass());
        if (limited == null) {
            return invocation.proceed();
        }
        List<Charge> charges = limited.charges(target, invocation.getArguments());
        if (!charges.isEmpty()) {
            try {
                gate.get().enter(new Entry(charges, false, CallListener.NONE));
            } catch (RateLimitExceededException rejection) {
                return instead(limited, invocation, rejection);
            }
        }
        return invocation.proceed();
    }

    private static @Nullable Object instead(
            LimitedMethod limited, MethodInvocation invocation, RateLimitExceededException rejection) throws Throwable {
        FallbackMethod fallback = limited.fallback();
        if (fallback != null) {
            return fallback.invoke(invocation.getThis(), invocation.getArguments(), rejection);
        }
        throw rejection;
    }
}
