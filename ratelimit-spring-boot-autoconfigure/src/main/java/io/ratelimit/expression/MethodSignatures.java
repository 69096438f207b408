package io.ratelimit.expression;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;

/** Reads signatures of methods as in their source, without what the compiler of Kotlin adds to them. */
public final class MethodSignatures {

    private MethodSignatures() {}

    /** Formats a method as {@code com.acme.QuoteController.quote(String)}. */
    public static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /** Returns the name without the suffix of an internal function or of a parameter that is a value class. */
    public static String name(Method method) {
        return KotlinDetector.isKotlinType(method.getDeclaringClass())
                ? method.getName().replaceFirst("(?<=.)[-$].*", "")
                : method.getName();
    }

    /** Returns whether the compiler of Kotlin has given the method another name, because a parameter is a value class. */
    static boolean hasValueClass(Method method) {
        return KotlinDetector.isKotlinType(method.getDeclaringClass())
                && method.getName().indexOf('-') > 0;
    }

    /** Returns how to make a class and its functions non-final in Kotlin; empty for Java. */
    public static String howToOpen(Class<?> type) {
        return KotlinDetector.isKotlinType(type)
                ? " In Kotlin, both the class and the function must be open: write it, or use the compiler plugin"
                        + " kotlin-spring with an annotation that it knows, such as @Component."
                : "";
    }

    /** Returns the parameter types without the continuation of a suspending function. */
    public static Class<?>[] parameterTypes(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return Arrays.copyOf(types, parameterCount(method));
    }

    public static int parameterCount(Method method) {
        return method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
    }

    /** Returns the return type; for a suspending function, the declared one. */
    public static Class<?> returnType(Method method) {
        return KotlinDetector.isSuspendingFunction(method)
                ? new MethodParameter(method, -1).getParameterType()
                : method.getReturnType();
    }
}
