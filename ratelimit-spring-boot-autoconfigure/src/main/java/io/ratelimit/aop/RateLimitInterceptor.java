package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limiter.RateLimitGate;
import java.lang.reflect.Method;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;

/**
 * Intercepts calls of limited methods.
 *
 * @param gate resolved at the first call, so that the store is not created too early
 */
public record RateLimitInterceptor(LimitedMethodResolver methods, Supplier<RateLimitGate> gate)
        implements MethodInterceptor {

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = invocation.getMethod();
        MatchedMethod found = methods.find(method, target != null ? target.getClass() : method.getDeclaringClass());
        if (found == null) {
            return invocation.proceed();
        }
        LimitedMethod limited = found.limited();
        return limited.strategy().call(new LimitedCall(limited.charges(), invocation, gate(limited)));
    }

    private RateLimitGate gate(LimitedMethod limited) {
        try {
            return gate.get();
        } catch (BeanCreationException ex) {
            throw ex.contains(BeanCurrentlyInCreationException.class)
                    ? new RateLimitConfigurationException(
                                    "a limited method must not be called while the rate limiter is created.",
                                    "Leave it out of the pointcut, or remove its annotation.",
                                    ex)
                            .at(MethodSignatures.describe(limited.method()))
                    : ex;
        }
    }
}
