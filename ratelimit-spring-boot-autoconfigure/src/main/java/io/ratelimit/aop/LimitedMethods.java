package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.aop.RateLimitAnnotations.Found;
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
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Knows which methods are limited. What limits one is worked out the first time it is asked for: at start-up. */
public final class LimitedMethods {

    private final Supplier<LimitedMethodFactory> factory;

    /** That a method is not limited is remembered too. */
    private final Map<MethodClassKey, Optional<LimitedMethod>> methods = new ConcurrentHashMap<>();

    /** @param factory asked for when the first limited method is found, so that nothing is created before its time */
    public LimitedMethods(Supplier<LimitedMethodFactory> factory) {
        this.factory = factory;
    }

    /**
     * @return {@code null} if nothing limits the method
     * @throws RateLimitConfigurationException if something should and cannot
     */
    @Nullable
    LimitedMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<LimitedMethod> known = methods.get(key);
        if (known == null) {
            known = resolve(method, ClassUtils.getUserClass(targetClass));
            methods.put(key, known);
        }
        return known.orElse(null);
    }

    /** All of a class, inherited ones and those of its interfaces included. */
    List<LimitedMethod> of(Class<?> targetClass) {
        return Stream.concat(Stream.of(targetClass), ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type)))
                .map(method -> find(method, targetClass))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
    }

    private Optional<LimitedMethod> resolve(Method method, Class<?> targetClass) {
        Method specific = mostSpecific(method, targetClass);
        if (!specific.equals(method)) {
            return Optional.ofNullable(find(specific, targetClass));
        }
        if (method.isSynthetic()) {
            return Optional.empty();
        }
        List<Found> found = RateLimitAnnotations.find(method, targetClass);
        if (found.isEmpty() || !Advisability.check(method, targetClass, found.get(0))) {
            return Optional.empty();
        }
        return Optional.of(factory.get().create(method, targetClass, found));
    }

    /** Of a class that is nothing but its interfaces the interface's method, because that has the parameters' names. */
    private static Method mostSpecific(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return Proxy.isProxyClass(targetClass) || ClassUtils.isLambdaClass(targetClass)
                ? ClassUtils.getInterfaceMethodIfPossible(specific, targetClass)
                : specific;
    }
}
