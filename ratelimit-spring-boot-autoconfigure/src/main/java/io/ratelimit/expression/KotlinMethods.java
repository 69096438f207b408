package io.ratelimit.expression;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;

/** Shows methods as their source has them: without what Kotlin's compiler makes of them. Those of Java are as they are. */
public final class KotlinMethods {

    private KotlinMethods() {}

    /** Without what is added for an internal function, or for a parameter that is a value class. */
    public static String name(Method method) {
        return KotlinDetector.isKotlinType(method.getDeclaringClass())
                ? method.getName().replaceFirst("(?<=.)[-$].*", "")
                : method.getName();
    }

    /** What more there is to say of a class or function that is final, where it need not say so. */
    public static String howToOpen(Class<?> type) {
        return KotlinDetector.isKotlinType(type)
                ? " In Kotlin, both the class and the function must be open: write it, or use the compiler plugin"
                        + " kotlin-spring with an annotation that it knows, such as @Component."
                : "";
    }

    /** Without the last one of a function that suspends. */
    public static Class<?>[] parameterTypes(Method method) {
        Class<?>[] types = method.getParameterTypes();
        return Arrays.copyOf(types, parameterCount(method));
    }

    public static int parameterCount(Method method) {
        return method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
    }

    /** What a function that suspends gives in the end. */
    public static Class<?> returnType(Method method) {
        return KotlinDetector.isSuspendingFunction(method)
                ? new MethodParameter(method, -1).getParameterType()
                : method.getReturnType();
    }

    static @Nullable Object[] arguments(Method method, @Nullable Object[] arguments) {
        int count = parameterCount(method);
        return count == arguments.length ? arguments : Arrays.copyOf(arguments, count);
    }
}
