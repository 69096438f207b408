package io.ratelimit.aop;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.expression.MethodSignatures;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Calls a method of the bean instead of throwing the rejection. */
record FallbackMethod(Method method, boolean takesException) {

    private static final String JAKARTA = "jakarta.annotation.security.";

    /** They are known by their names, because they may not be on the class path. */
    private static final List<String> SECURITY = List.of(
            "org.springframework.security.access.prepost.PreAuthorize",
            "org.springframework.security.access.prepost.PreFilter",
            "org.springframework.security.access.prepost.PostAuthorize",
            "org.springframework.security.access.prepost.PostFilter",
            "org.springframework.security.access.annotation.Secured",
            JAKARTA + "RolesAllowed",
            JAKARTA + "DenyAll");

    FallbackMethod {
        ReflectionUtils.makeAccessible(method);
    }

    /** @throws RateLimitConfigurationException if the class has no method of this name with a matching signature */
    static FallbackMethod find(String name, Method limited, Class<?> targetClass) {
        // Includes default methods of interfaces.
        List<Method> named = Stream.of(ReflectionUtils.getAllDeclaredMethods(targetClass))
                .filter(method ->
                        MethodSignatures.name(method).equals(name) && !method.isBridge() && !method.equals(limited))
                .toList();
        return Stream.of(true, false)
                .flatMap(takesException -> named.stream()
                        .filter(method -> fits(method, limited, takesException))
                        .map(method -> new FallbackMethod(method, takesException)))
                .findFirst()
                .orElseThrow(() -> unusable(name, limited, targetClass, named));
    }

    /**
     * Validates a fallback that is called before Spring Security has authorized the call.
     *
     * @throws RateLimitConfigurationException if method security is to protect the limited method, its type or the fallback
     */
    void checkNotSecured(Method limited, Class<?> targetClass) {
        boolean permitted = TypeHierarchy.isAnnotated(limited, JAKARTA + "PermitAll");
        Stream.of(limited, method, targetClass)
                .flatMap(part -> MergedAnnotations.from(part, SearchStrategy.TYPE_HIERARCHY).stream())
                .filter(annotation -> SECURITY.contains(annotation.getType().getName()))
                // It takes the place of what the type has of its kind.
                .filter(annotation -> !permitted
                        || annotation.getSource() instanceof Method
                        || !annotation.getType().getName().startsWith(JAKARTA))
                .findFirst()
                .ifPresent(annotation -> {
                    throw new RateLimitConfigurationException(
                            "fallbackMethod must not be called before Spring Security has authorized the call (was on a method with @"
                                    + annotation.getType().getSimpleName() + ", and ratelimit.order is at most 600).",
                            "Set ratelimit.order: after-security, or remove fallbackMethod.");
                });
    }

    /** Returns whether the method is the fallback of another one, as the annotation of their type names it. */
    static boolean is(Method method, String name, Class<?> targetClass) {
        return MethodSignatures.name(method).equals(name)
                && Stream.of(ReflectionUtils.getAllDeclaredMethods(targetClass))
                        .filter(other -> RateLimitAnnotations.isPublicInstanceMethod(other)
                                && !AopUtils.getMostSpecificMethod(other, targetClass)
                                        .equals(method))
                        .anyMatch(other -> fits(method, other, true) || fits(method, other, false));
    }

    private static boolean fits(Method method, Method limited, boolean takesException) {
        Class<?>[] wanted = MethodSignatures.parameterTypes(limited);
        Class<?>[] given = MethodSignatures.parameterTypes(method);
        boolean sameParameters =
                KotlinDetector.isSuspendingFunction(method) == KotlinDetector.isSuspendingFunction(limited)
                        && given.length == wanted.length + (takesException ? 1 : 0)
                        && Arrays.equals(Arrays.copyOf(given, wanted.length), wanted);
        return sameParameters
                && (!takesException || given[wanted.length].isAssignableFrom(RateLimitExceededException.class))
                && (limited.getReturnType() == void.class
                        || ClassUtils.isAssignable(
                                MethodSignatures.returnType(limited), MethodSignatures.returnType(method)));
    }

    private static RateLimitConfigurationException unusable(
            String name, Method limited, Class<?> targetClass, List<Method> named) {
        String parameters = Arrays.stream(MethodSignatures.parameterTypes(limited))
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        String found = named.isEmpty()
                ? "there is no other method of that name"
                : "there is only "
                        + named.stream().map(MethodSignatures::describe).collect(Collectors.joining(", "));
        return new RateLimitConfigurationException(
                "fallbackMethod must fit the limited method (was \"" + name + "\"): " + found + ".",
                "Declare in " + targetClass.getSimpleName() + ": "
                        + (KotlinDetector.isSuspendingFunction(limited) ? "suspend " : "")
                        + MethodSignatures.returnType(limited).getSimpleName() + " " + name + "(" + parameters
                        + "), or the same with a RateLimitExceededException as last parameter.");
    }

    /** NullAway: Spring accepts null arguments. */
    @SuppressWarnings("NullAway")
    @Nullable
    Object invoke(@Nullable Object target, @Nullable Object[] arguments, RateLimitExceededException rejection)
            throws Throwable {
        @Nullable Object[] given = arguments;
        if (takesException) {
            int position = MethodSignatures.parameterCount(method) - 1;
            given = Arrays.copyOf(arguments, arguments.length + 1);
            // The last argument of a suspending function is its continuation.
            System.arraycopy(arguments, position, given, position + 1, arguments.length - position);
            given[position] = rejection;
        }
        return AopUtils.invokeJoinpointUsingReflection(target, method, given);
    }
}
