package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitListener;
import io.ratelimit.TimeSource;
import io.ratelimit.Waiter;
import io.ratelimit.store.RateLimitStore;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.security.CodeSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The pointcuts of the configuration. They match public methods that belong to an object, and neither those of what makes
 * or advises beans nor those of what a limit needs to decide.
 */
public final class LimitPointcuts {

    private static final String ASPECTJ = "org.aspectj.weaver.tools.PointcutParser";

    private static final String ASPECT = "org.aspectj.lang.annotation.Aspect";

    private static final List<Class<?>> LEFT_ALONE = List.of(
            Advice.class,
            Advisor.class,
            Pointcut.class,
            AopInfrastructureBean.class,
            BeanPostProcessor.class,
            BeanFactoryPostProcessor.class,
            FactoryBean.class,
            RateLimitListener.class,
            RateLimitStore.class,
            TimeSource.class,
            Waiter.class);

    private final List<LimitPointcut> pointcuts;

    /** Those that may match among the methods of a class. */
    private final Map<Class<?>, List<LimitPointcut>> candidates = new ConcurrentHashMap<>();

    /**
     * @param expressions by the limit's name; blank ones are none
     * @throws RateLimitConfigurationException if one is wrong, or there is nothing that understands them
     */
    public LimitPointcuts(Map<String, String> expressions, ListableBeanFactory beans) {
        this.pointcuts = expressions.entrySet().stream()
                .filter(entry -> !entry.getValue().isBlank())
                .map(entry -> pointcut(entry.getKey(), entry.getValue(), beans))
                .toList();
    }

    private static LimitPointcut pointcut(String limit, String expression, ListableBeanFactory beans) {
        String property = "ratelimit.limits." + limit + ".pointcut";
        if (!ClassUtils.isPresent(ASPECTJ, LimitPointcuts.class.getClassLoader())) {
            throw new RateLimitConfigurationException(
                    property + " needs AspectJ's weaver, which is not on the class path.",
                    "Add org.aspectj:aspectjweaver, which ratelimit-spring-boot-starter brings.");
        }
        return new LimitPointcut(limit, property, expression, beans);
    }

    List<LimitPointcut> all() {
        return pointcuts;
    }

    boolean mayMatch(Class<?> type) {
        return !candidates(type).isEmpty();
    }

    /** Those that match a method, each of another limit. */
    List<LimitPointcut> of(Method method, Class<?> type) {
        if (pointcuts.isEmpty() || !isMeant(method)) {
            return List.of();
        }
        return candidates(type).stream()
                .filter(pointcut -> pointcut.matches(method, type))
                .toList();
    }

    private List<LimitPointcut> candidates(Class<?> type) {
        if (pointcuts.isEmpty()) {
            return List.of();
        }
        Class<?> userType = ClassUtils.getUserClass(type);
        return candidates.computeIfAbsent(userType, this::find);
    }

    private List<LimitPointcut> find(Class<?> type) {
        return isLeftAlone(type)
                ? List.of()
                : pointcuts.stream().filter(pointcut -> pointcut.mayMatch(type)).toList();
    }

    private static boolean isLeftAlone(Class<?> type) {
        return LEFT_ALONE.stream().anyMatch(left -> left.isAssignableFrom(type))
                || AnnotatedElementUtils.hasAnnotation(type, Configuration.class)
                || Stream.of(type.getAnnotations())
                        .anyMatch(annotation ->
                                annotation.annotationType().getName().equals(ASPECT))
                || isOurs(type);
    }

    private static boolean isOurs(Class<?> type) {
        return type.getName().startsWith("io.ratelimit.")
                && Objects.equals(codeSource(type), codeSource(LimitPointcuts.class));
    }

    private static @Nullable CodeSource codeSource(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }

    private static boolean isMeant(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && !Modifier.isStatic(method.getModifiers())
                && !ReflectionUtils.isObjectMethod(method);
    }
}
