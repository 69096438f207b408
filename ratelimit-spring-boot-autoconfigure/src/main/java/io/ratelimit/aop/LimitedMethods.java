package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitAnnotations.Found;
import io.ratelimit.expression.RateLimitOperation;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Knows which methods are limited. What limits one is worked out the first time it is asked for: at start-up. */
public final class LimitedMethods {

    private final Supplier<LimitedMethodFactory> factory;

    private final LimitPointcuts pointcuts;

    /** That a method is not limited is remembered too. */
    private final Map<MethodClassKey, Optional<FoundMethod>> methods = new ConcurrentHashMap<>();

    /** @param factory asked for when the first limited method is found, so that nothing is created before its time */
    public LimitedMethods(Supplier<LimitedMethodFactory> factory, LimitPointcuts pointcuts) {
        this.factory = factory;
        this.pointcuts = pointcuts;
    }

    LimitPointcuts pointcuts() {
        return pointcuts;
    }

    /** Whether there may be a limited method in a class; a quick look. */
    boolean mayBeIn(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, RateLimited.class) || pointcuts.mayMatch(type);
    }

    /**
     * @return {@code null} if nothing limits the method
     * @throws RateLimitConfigurationException if something should and cannot
     */
    @Nullable
    FoundMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<FoundMethod> known = methods.get(key);
        if (known == null) {
            known = resolve(method, ClassUtils.getUserClass(targetClass));
            methods.put(key, known);
        }
        return known.orElse(null);
    }

    /** All of a class, inherited ones and those of its interfaces included. */
    List<FoundMethod> of(Class<?> targetClass) {
        return Stream.concat(Stream.of(targetClass), ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type)))
                .map(method -> find(method, targetClass))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    private Optional<FoundMethod> resolve(Method method, Class<?> targetClass) {
        Method specific = mostSpecific(method, targetClass);
        if (!specific.equals(method)) {
            return Optional.ofNullable(find(specific, targetClass));
        }
        if (method.isSynthetic()) {
            return Optional.empty();
        }
        List<Found> found = annotations(method, targetClass);
        List<LimitPointcut> matched = pointcuts.of(method, targetClass);
        if (found.isEmpty() && matched.isEmpty()) {
            return Optional.empty();
        }
        matched.forEach(pointcut -> Advisability.check(method, targetClass, pointcut));
        return Optional.of(foundMethod(method, targetClass, found, matched));
    }

    private static List<Found> annotations(Method method, Class<?> targetClass) {
        List<Found> found = RateLimitAnnotations.find(method, targetClass);
        return found.isEmpty() || Advisability.check(method, targetClass, found.get(0)) ? found : List.of();
    }

    private FoundMethod foundMethod(
            Method method, Class<?> targetClass, List<Found> found, List<LimitPointcut> matched) {
        List<RateLimitOperation> annotated =
                found.isEmpty() ? List.of() : factory.get().annotated(method, found);
        FoundMethod result = new FoundMethod(
                method,
                !found.isEmpty(),
                matched,
                () -> factory.get().create(method, targetClass, found, annotated, matched));
        if (matched.isEmpty()) {
            // Nothing to wait for: its mistakes are told as soon as they can be.
            var unused = result.limited();
        }
        return result;
    }

    /** Of a class that is nothing but its interfaces the interface's method, because that has the parameters' names. */
    private static Method mostSpecific(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return Proxy.isProxyClass(targetClass) || ClassUtils.isLambdaClass(targetClass)
                ? ClassUtils.getInterfaceMethodIfPossible(specific, targetClass)
                : specific;
    }
}
