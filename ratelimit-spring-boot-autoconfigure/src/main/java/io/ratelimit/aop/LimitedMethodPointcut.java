package io.ratelimit.aop;

import io.ratelimit.annotation.RateLimited;
import java.lang.reflect.Method;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;

/** Matches limited methods. */
final class LimitedMethodPointcut extends StaticMethodMatcherPointcut {

    private final LimitedMethods methods;

    LimitedMethodPointcut(LimitedMethods methods) {
        this.methods = methods;
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, RateLimited.class));
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return methods.find(method, targetClass) != null;
    }
}
