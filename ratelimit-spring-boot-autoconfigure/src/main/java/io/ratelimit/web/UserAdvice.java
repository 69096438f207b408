package io.ratelimit.web;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/** Tells an advice of the application that handles our exceptions from one that handles every exception there is. */
final class UserAdvice {

    /** By name, because only one of them can be loaded in most applications. */
    private static final Set<String> OURS =
            Set.of("io.ratelimit.web.RateLimitExceptionAdvice", "io.ratelimit.web.ReactiveRateLimitExceptionAdvice");

    private final ListableBeanFactory beans;

    UserAdvice(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /** Whether some advice, but for our own, names one of the exceptions. */
    boolean names(Set<Class<? extends Throwable>> exceptions) {
        return Arrays.stream(beans.getBeanNamesForAnnotation(ControllerAdvice.class))
                .map(beans::getType)
                .filter(type -> type != null && !OURS.contains(type.getName()))
                .flatMap(type -> MethodIntrospector.selectMethods(type, UserAdvice::isHandler).stream())
                .flatMap(UserAdvice::handled)
                .anyMatch(exceptions::contains);
    }

    private static boolean isHandler(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, ExceptionHandler.class);
    }

    private static Stream<Class<?>> handled(Method method) {
        ExceptionHandler handler = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
        Stream<Class<?>> declared = handler == null ? Stream.empty() : Arrays.stream(handler.value());
        return Stream.concat(declared, Arrays.stream(method.getParameterTypes()));
    }
}
