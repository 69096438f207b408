package io.ratelimit.web;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;

/** Finds the application's advice, and whether it handles rate limit exceptions by name or as any other exception. */
public record ApplicationAdvice(ApplicationContext context) {

    /** The starter answers these and their subtypes; a handler for another exception says nothing about them. */
    private static final List<Class<?>> ANSWERED = List.of(
            RateLimitExceededException.class, RateLimitRefusedException.class, RateLimitExpressionException.class);

    /** The starter's advice, by name, because it cannot be loaded in a servlet application. */
    private static final String STARTER_ADVICE = "io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice";

    /** Whether some advice names a rate limit exception. Creates no beans. */
    public boolean hasHandlers() {
        return Arrays.stream(context.getBeanNamesForAnnotation(ControllerAdvice.class))
                .map(context::getType)
                .anyMatch(ApplicationAdvice::isHandler);
    }

    /** Returns the advice that names a rate limit exception. */
    public List<ControllerAdviceBean> handlers() {
        return ControllerAdviceBean.findAnnotatedBeans(context).stream()
                .filter(advice -> isHandler(advice.getBeanType()))
                .toList();
    }

    /**
     * Finds the advice that handles rejections without naming them, because it precedes all advice that does.
     *
     * @return {@code null} if there is none
     */
    @Nullable
    Class<?> precedingCatchAll() {
        for (ControllerAdviceBean advice : ControllerAdviceBean.findAnnotatedBeans(context)) {
            Class<?> type = advice.getBeanType();
            boolean handler = isHandler(type);
            if (!isOfApplication(type) || (handler && advice.isApplicableToBeanType(null))) {
                return null;
            }
            if (type != null && !handler && handledBy(type).anyMatch(ApplicationAdvice::isCatchAll)) {
                return type;
            }
        }
        return null;
    }

    /** Whether the advice names this exception of a rate limit. */
    public static boolean handles(@Nullable Class<?> advice, Throwable exception) {
        return advice != null && handledBy(advice).anyMatch(type -> isNamed(type) && type.isInstance(exception));
    }

    private static boolean isOfApplication(@Nullable Class<?> advice) {
        return advice != null && !advice.getName().equals(STARTER_ADVICE);
    }

    private static boolean isHandler(@Nullable Class<?> advice) {
        return advice != null && isOfApplication(advice) && handledBy(advice).anyMatch(ApplicationAdvice::isNamed);
    }

    private static boolean isNamed(Class<?> type) {
        return type == RateLimitException.class
                || ANSWERED.stream().anyMatch(answered -> answered.isAssignableFrom(type));
    }

    private static boolean isCatchAll(Class<?> type) {
        return Throwable.class.isAssignableFrom(type) && type.isAssignableFrom(RateLimitExceededException.class);
    }

    private static Stream<Class<?>> handledBy(Class<?> advice) {
        return MethodIntrospector.selectMethods(
                        advice, (Method method) -> AnnotatedElementUtils.hasAnnotation(method, ExceptionHandler.class))
                .stream()
                .flatMap(ApplicationAdvice::handledBy);
    }

    private static Stream<Class<?>> handledBy(Method method) {
        ExceptionHandler handler = AnnotatedElementUtils.findMergedAnnotation(method, ExceptionHandler.class);
        Stream<Class<?>> declared = handler == null ? Stream.empty() : Arrays.stream(handler.value());
        return Stream.concat(declared, Arrays.stream(method.getParameterTypes()));
    }
}
