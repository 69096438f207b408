package io.ratelimit.web;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimitException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitRefusedException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.method.ControllerAdviceBean;

/** The application's advice: tells a handler of our exceptions from one of every exception there is. */
public final class UserAdvice {

    private static final Set<Class<?>> EXCEPTIONS = Set.of(
            RateLimitException.class,
            RateLimitExceededException.class,
            RateLimitRefusedException.class,
            MissingRateLimitKeyException.class,
            RateLimitExpressionException.class);

    /** By name, because only one of them can be loaded in most applications. */
    private static final Set<String> OURS = Set.of(
            "io.ratelimit.web.servlet.RateLimitExceptionAdvice",
            "io.ratelimit.web.reactive.ReactiveRateLimitExceptionAdvice");

    private final ApplicationContext context;

    public UserAdvice(ApplicationContext context) {
        this.context = context;
    }

    /** Whether some advice names one of our exceptions. Creates no beans. */
    public boolean namesOurs() {
        return Arrays.stream(context.getBeanNamesForAnnotation(ControllerAdvice.class))
                .map(context::getType)
                .anyMatch(type -> isUsers(type) && namesOurs(type));
    }

    /** Whether some advice for all controllers names one of our exceptions. */
    public boolean namesOursForAll() {
        return naming().stream().anyMatch(advice -> advice.isApplicableToBeanType(null));
    }

    /** The advice that names one of our exceptions. */
    public List<ControllerAdviceBean> naming() {
        return ControllerAdviceBean.findAnnotatedBeans(context).stream()
                .filter(advice -> isUsers(advice.getBeanType()) && namesOurs(advice.getBeanType()))
                .toList();
    }

    /**
     * The advice that answers rejections though it does not name them, because it comes before all that does.
     *
     * @return {@code null}: there is none
     */
    @Nullable
    public Class<?> swallowing() {
        for (ControllerAdviceBean advice : ControllerAdviceBean.findAnnotatedBeans(context)) {
            Class<?> type = advice.getBeanType();
            boolean forAll = advice.isApplicableToBeanType(null);
            if (!isUsers(type) || (forAll && namesOurs(type))) {
                return null;
            }
            if (type != null && !namesOurs(type) && handled(type).anyMatch(UserAdvice::isCatchAll)) {
                return type;
            }
        }
        return null;
    }

    public static boolean names(@Nullable Class<?> advice, Throwable ours) {
        return advice != null && handled(advice).anyMatch(type -> EXCEPTIONS.contains(type) && type.isInstance(ours));
    }

    private static boolean isUsers(@Nullable Class<?> advice) {
        return advice != null && !OURS.contains(advice.getName());
    }

    private static boolean namesOurs(@Nullable Class<?> advice) {
        return advice != null && handled(advice).anyMatch(EXCEPTIONS::contains);
    }

    private static boolean isCatchAll(Class<?> type) {
        return Throwable.class.isAssignableFrom(type) && type.isAssignableFrom(RateLimitExceededException.class);
    }

    private static Stream<Class<?>> handled(Class<?> advice) {
        return MethodIntrospector.selectMethods(advice, UserAdvice::isHandler).stream()
                .flatMap(UserAdvice::handled);
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
