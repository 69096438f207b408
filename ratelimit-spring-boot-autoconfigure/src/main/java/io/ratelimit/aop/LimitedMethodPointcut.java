package io.ratelimit.aop;

import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/** Matches limited methods. */
final class LimitedMethodPointcut extends StaticMethodMatcherPointcut {

    private final LimitedMethods methods;

    LimitedMethodPointcut(LimitedMethods methods) {
        this.methods = methods;
        setClassFilter(methods::mayBeIn);
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return methods.find(method, targetClass) != null;
    }
}
