package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.aop.RateLimitAnnotations.LimitAnnotation;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limiter.MethodLimits;
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
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/** Finds limited methods by annotation and pointcut. Each method is resolved once, at startup. */
public final class LimitedMethodResolver {

    private final Supplier<LimitedMethodFactory> factory;

    private final PointcutCatalog pointcuts;

    /** Whether classes of beans, their supertypes or a method of them are annotated. */
    private final Map<Class<?>, Boolean> annotated = new ConcurrentHashMap<>();

    /** Includes methods that are not limited, of classes with methods that are. */
    private final Map<MethodClassKey, Optional<MatchedMethod>> methods = new ConcurrentHashMap<>();

    /** @param factory resolved at the first limited method, so that no bean is created too early */
    public LimitedMethodResolver(Supplier<LimitedMethodFactory> factory, PointcutCatalog pointcuts) {
        this.factory = factory;
        this.pointcuts = pointcuts;
    }

    PointcutCatalog pointcuts() {
        return pointcuts;
    }

    /** Returns whether the class may have limited methods. If not, none of its methods is looked at further. */
    boolean mayBeIn(Class<?> type) {
        return annotated.computeIfAbsent(type, LimitedMethodResolver::isAnnotated) || pointcuts.mayMatch(type);
    }

    /** Includes the interfaces that a proxy adds. */
    private static boolean isAnnotated(Class<?> type) {
        return RateLimitAnnotations.areIn(ClassUtils.getUserClass(type))
                || ClassUtils.getAllInterfacesForClassAsSet(type).stream().anyMatch(RateLimitAnnotations::areIn);
    }

    /**
     * Finds a method.
     *
     * @return {@code null} if the method is not limited
     * @throws RateLimitConfigurationException if the method cannot be limited
     */
    @Nullable
    MatchedMethod find(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        Optional<MatchedMethod> known = methods.get(key);
        if (known == null) {
            known = resolve(method, ClassUtils.getUserClass(targetClass));
            methods.put(key, known);
        }
        return known.orElse(null);
    }

    /** Returns the limits of a method, once all limits are declared. */
    public MethodLimits limits(Method method, Class<?> targetClass) {
        MatchedMethod found = find(method, targetClass);
        return found == null ? MethodLimits.NONE : found.limited().charges().limits();
    }

    /**
     * Returns all limited methods of a class, including inherited ones and those of its interfaces.
     *
     * @throws RateLimitConfigurationException if a method cannot be limited, or the class is annotated and has no method to limit
     */
    List<MatchedMethod> of(Class<?> targetClass) {
        if (!mayBeIn(targetClass)) {
            return List.of();
        }
        List<MatchedMethod> all = Stream.concat(
                        Stream.of(targetClass), ClassUtils.getAllInterfacesForClassAsSet(targetClass).stream())
                .flatMap(type -> Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type)))
                .map(method -> find(method, targetClass))
                .filter(Objects::nonNull)
                .distinct()
                .toList();
        if (all.stream().noneMatch(MatchedMethod::annotated) && !DeclarativeClient.isFallback(targetClass)) {
            Advisability.checkCovers(targetClass);
        }
        return all;
    }

    private Optional<MatchedMethod> resolve(Method method, Class<?> targetClass) {
        Method specific = mostSpecific(method, targetClass);
        if (!specific.equals(method)) {
            return Optional.ofNullable(find(specific, targetClass));
        }
        if (method.isSynthetic()) {
            return Optional.empty();
        }
        List<LimitAnnotation> found = annotations(method, targetClass);
        List<LimitPointcut> matched = pointcuts.of(method, targetClass);
        if ((found.isEmpty() && matched.isEmpty()) || DeclarativeClient.isFallback(method, targetClass)) {
            return Optional.empty();
        }
        matched.forEach(pointcut -> Advisability.check(method, targetClass, pointcut));
        return Optional.of(matchedMethod(method, targetClass, found, matched));
    }

    private static List<LimitAnnotation> annotations(Method method, Class<?> targetClass) {
        List<LimitAnnotation> found = RateLimitAnnotations.find(method, targetClass);
        return found.isEmpty() || Advisability.check(method, targetClass, found.get(0)) ? found : List.of();
    }

    private MatchedMethod matchedMethod(
            Method method, Class<?> targetClass, List<LimitAnnotation> found, List<LimitPointcut> matched) {
        // Only the proxies are determined when the application is built: the limits may depend on later properties.
        boolean aot = Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
        List<RateLimitOperation> annotated =
                found.isEmpty() || aot ? List.of() : factory.get().annotated(method, targetClass, found);
        MatchedMethod result = new MatchedMethod(
                method,
                !found.isEmpty(),
                matched,
                SingletonSupplier.of(() -> factory.get().create(method, targetClass, found, annotated, matched)));
        if (matched.isEmpty() && !aot) {
            // Resolve now, to report mistakes early: no pointcut has to wait for other declarations.
            var unused = result.limited();
        }
        return result;
    }

    /**
     * Returns the method of the interface for proxies and lambdas, because it has the names of the parameters. An interface that names
     * the types of a generic one has a bridge, by which calls through that one come.
     */
    private static Method mostSpecific(Method method, Class<?> targetClass) {
        Method specific = AopUtils.getMostSpecificMethod(method, targetClass);
        return Proxy.isProxyClass(targetClass) || ClassUtils.isLambdaClass(targetClass)
                ? BridgeMethodResolver.findBridgedMethod(ClassUtils.getInterfaceMethodIfPossible(specific, targetClass))
                : specific;
    }
}
