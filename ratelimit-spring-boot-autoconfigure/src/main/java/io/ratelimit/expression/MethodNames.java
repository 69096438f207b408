package io.ratelimit.expression;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Names methods for messages. */
public final class MethodNames {

    private MethodNames() {}

    /** {@code com.acme.QuoteController.quote(String)}. */
    public static String describe(Method method) {
        return method.getDeclaringClass().getName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }
}
