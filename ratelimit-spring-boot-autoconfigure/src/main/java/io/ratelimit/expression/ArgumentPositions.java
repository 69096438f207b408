package io.ratelimit.expression;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.KotlinDetector;

/**
 * Maps the variables of an expression to arguments of the call.
 *
 * @param count the number of arguments
 * @param byVariable positions, counted from 0
 */
record ArgumentPositions(int count, Map<String, Integer> byVariable) {

    /** Maps no variables: there are no arguments, or they differ from those in the source. */
    static final ArgumentPositions NONE = new ArgumentPositions(0, Map.of());

    static ArgumentPositions of(Method method, @Nullable String @Nullable [] names) {
        return KotlinDetector.isSuspendingFunction(method) ? NONE : ofParameters(method, names);
    }

    /** Maps the variables to the parameters of the source, also of a function that suspends. */
    static ArgumentPositions ofParameters(Method method, @Nullable String @Nullable [] names) {
        int count = MethodSignatures.parameterCount(method);
        if (names != null && names.length != count && names.length != method.getParameterCount()) {
            return NONE;
        }
        Map<String, Integer> byVariable = new HashMap<>();
        // In this order, because in Spring a later variable hides an earlier one: a parameter may be named p1.
        for (int i = 0; i < count; i++) {
            byVariable.put("a" + i, i);
            byVariable.put("p" + i, i);
            String name = names == null ? null : names[i];
            if (name != null) {
                byVariable.put(name, i);
            }
        }
        byVariable.keySet().removeAll(Set.of("root", "this"));
        return new ArgumentPositions(count, Map.copyOf(byVariable));
    }
}
