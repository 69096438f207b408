package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.internal.limiter.RateLimitGate;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanCurrentlyInCreationException;

/**
 * Intercepts calls of limited methods.
 *
 * @param gate resolved at the first call, so that the store is not created too early
 * @param known the method that is called; {@code null}: it is not limited
 * @param knownIn the class of the target for which {@code known} is valid; {@code null}: the method is found in each call
 */
public record RateLimitInterceptor(
        LimitedMethodResolver methods,
        Supplier<RateLimitGate> gate,
        @Nullable MatchedMethod known,
        @Nullable Class<?> knownIn)
        implements MethodInterceptor {

    /** Returns what intercepts calls of one method, and need not find it each time, unless the target is a proxy. */
    RateLimitInterceptor of(Method method, Class<?> targetClass) {
        return Advised.class.isAssignableFrom(targetClass)
                ? this
                : new RateLimitInterceptor(methods, gate, methods.find(method, targetClass), targetClass);
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = invocation.getMethod();
        Class<?> type = target != null ? target.getClass() : method.getDeclaringClass();
        MatchedMethod found = type == knownIn ? known : isChargedBy(target, method) ? null : methods.find(method, type);
        if (found == null) {
            return invocation.proceed();
        }
        LimitedMethod limited = found.limited();
        return limited.strategy().call(new LimitedCall(limited.charges(), invocation, gate(limited)));
    }

    /** Returns whether the target is a proxy that charges the call, or passes it to one. */
    private static boolean isChargedBy(@Nullable Object target, Method method) {
        return target instanceof Advised proxy
                && method.getDeclaringClass().isInstance(target)
                && (isIn(proxy)
                        || (proxy.getTargetSource() instanceof SingletonTargetSource behind
                                && isChargedBy(behind.getTarget(), method)));
    }

    /** Returns whether the advice of a proxy limits calls. */
    static boolean isIn(Advised proxy) {
        return Arrays.stream(proxy.getAdvisors())
                .anyMatch(advisor -> advisor.getAdvice() instanceof RateLimitInterceptor);
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
