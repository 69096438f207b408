package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import java.lang.reflect.Method;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
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
import org.springframework.core.NativeDetector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;

/**
 * Holds the pointcuts of all limits in the configuration. They match public instance methods, except those of Spring's
 * infrastructure and of beans that the starter itself calls.
 */
public final class PointcutCatalog {

    private static final String ASPECTJ = "org.aspectj.weaver.tools.PointcutParser";

    private static final String ASPECT = "org.aspectj.lang.annotation.Aspect";

    private static final List<Class<?>> EXCLUDED = List.of(
            Advice.class,
            Advisor.class,
            Pointcut.class,
            AopInfrastructureBean.class,
            BeanPostProcessor.class,
            BeanFactoryPostProcessor.class,
            FactoryBean.class);

    private final ListableBeanFactory beans;

    private final List<LimitPointcut> pointcuts;

    /** A class of each module of the starter. */
    private final List<Class<?>> modules;

    /** The pointcuts that may match methods of a class. */
    private final Map<Class<?>, List<LimitPointcut>> candidates = new ConcurrentHashMap<>();

    /** Whether a pointcut matches more than methods that assist handlers. */
    private final Map<LimitPointcut, Boolean> matchingHandlers = new ConcurrentHashMap<>();

    /**
     * @param expressions by the name of the limit; blank ones are ignored
     * @param modules returns a class of each module of the starter, whose own beans are not limited, nor those that implement its
     *     types
     * @throws RateLimitConfigurationException if an expression is invalid or AspectJ is missing
     */
    public PointcutCatalog(
            Map<String, String> expressions, ListableBeanFactory beans, Supplier<List<Class<?>>> modules) {
        this.beans = beans;
        this.pointcuts = expressions.entrySet().stream()
                .filter(entry -> !entry.getValue().isBlank())
                .map(entry -> pointcut(entry.getKey(), entry.getValue(), beans))
                .toList();
        this.modules = pointcuts.isEmpty() ? List.of() : modules.get();
    }

    private static LimitPointcut pointcut(String limit, String expression, ListableBeanFactory beans) {
        String property = "ratelimit.limits." + limit + ".pointcut";
        if (!ClassUtils.isPresent(ASPECTJ, PointcutCatalog.class.getClassLoader())) {
            throw new RateLimitConfigurationException(
                    property + " needs AspectJ's weaver, which is not on the class path.",
                    "Add org.aspectj:aspectjweaver, which ratelimit-spring-boot-starter brings.");
        }
        if (NativeDetector.inNativeImage()) {
            throw new RateLimitConfigurationException(
                    property + " must be empty in a native image, which has no AspectJ (was \"" + expression + "\").",
                    "Annotate the methods, or run the application on a JVM.");
        }
        return LimitPointcut.of(limit, property, expression, beans);
    }

    List<LimitPointcut> all() {
        return pointcuts;
    }

    boolean mayMatch(Class<?> type) {
        return !candidates(type).isEmpty();
    }

    /**
     * Returns the pointcuts that match a method, at most one for each limit. Methods that assist handlers, for which a request
     * would pay twice, are left out, unless a pointcut matches nothing else.
     */
    List<LimitPointcut> of(Method method, Class<?> type) {
        if (pointcuts.isEmpty() || !RateLimitAnnotations.isPublicInstanceMethod(method)) {
            return List.of();
        }
        return candidates(type).stream()
                .filter(pointcut -> pointcut.matches(method, type))
                .filter(pointcut -> !FrameworkCall.assistsHandlers(method, type) || !matchesHandlers(pointcut))
                .toList();
    }

    private boolean matchesHandlers(LimitPointcut pointcut) {
        return matchingHandlers.computeIfAbsent(
                pointcut,
                any -> Arrays.stream(beans.getBeanDefinitionNames())
                        .map(name -> beans.getType(name, false))
                        .filter(type -> type != null && candidates(type).contains(any))
                        .anyMatch(type -> matchesHandlers(any, ClassUtils.getUserClass(type))));
    }

    private static boolean matchesHandlers(LimitPointcut pointcut, Class<?> type) {
        return Arrays.stream(type.getMethods())
                .filter(RateLimitAnnotations::isPublicInstanceMethod)
                .anyMatch(method -> !FrameworkCall.assistsHandlers(method, type) && pointcut.matches(method, type));
    }

    private List<LimitPointcut> candidates(Class<?> type) {
        return pointcuts.isEmpty() ? List.of() : candidates.computeIfAbsent(ClassUtils.getUserClass(type), this::find);
    }

    private List<LimitPointcut> find(Class<?> type) {
        return isExcluded(type)
                ? List.of()
                : pointcuts.stream().filter(pointcut -> pointcut.mayMatch(type)).toList();
    }

    private boolean isExcluded(Class<?> type) {
        return EXCLUDED.stream().anyMatch(excluded -> excluded.isAssignableFrom(type))
                || AnnotatedElementUtils.hasAnnotation(type, Configuration.class)
                || MergedAnnotations.from(type).isDirectlyPresent(ASPECT)
                || TypeHierarchy.all(type).anyMatch(this::isPartOfStarter);
    }

    private boolean isPartOfStarter(Class<?> type) {
        return type.getName().startsWith("io.ratelimit.")
                && modules.stream().anyMatch(module -> Objects.equals(codeSource(module), codeSource(type)));
    }

    private static @Nullable CodeSource codeSource(Class<?> type) {
        return type.getProtectionDomain().getCodeSource();
    }
}
