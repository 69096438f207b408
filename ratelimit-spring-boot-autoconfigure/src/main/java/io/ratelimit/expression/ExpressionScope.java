package io.ratelimit.expression;

import io.ratelimit.LimitNames;
import io.ratelimit.RateLimitConfigurationException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;

/**
 * What expressions may name where they are evaluated: in a call of a method, or in a request that has not reached any.
 *
 * @param place the method or the rule, for error messages
 * @param subject what the root object is, {@code a call}
 * @param root the root object's type
 * @param properties those of the root object that are there outside of a web request, too
 * @param names the variables that have names
 * @param positions the variables that have numbers
 * @param arguments what of the variables are arguments
 * @param nameless what to say where there are no names
 * @param facts what is known of the caller
 */
record ExpressionScope(
        String place,
        String subject,
        Class<? extends RequestRoot> root,
        Set<String> properties,
        List<String> names,
        List<String> positions,
        ArgumentPositions arguments,
        String nameless,
        Supplier<CallerFacts> facts) {

    /** What can be asked of a request, as it is written. */
    private static final Map<String, String> OF_A_REQUEST =
            Map.of("clientIp", "clientIp", "principal", "principal", "header", "header('…')");

    static ExpressionScope of(Method method, ParameterNameDiscoverer parameterNames, Supplier<CallerFacts> facts) {
        @Nullable String @Nullable [] names = parameterNames.getParameterNames(method);
        int count = KotlinMethods.parameterCount(method);
        return new ExpressionScope(
                MethodNames.describe(method),
                "a call",
                ExpressionRoot.class,
                Set.of("method", "target", "args"),
                names == null
                        ? List.of()
                        : Arrays.stream(names)
                                .limit(count)
                                .filter(Objects::nonNull)
                                .toList(),
                IntStream.range(0, count)
                        .boxed()
                        .flatMap(i -> Stream.of("p" + i, "a" + i))
                        .toList(),
                ArgumentPositions.of(method, names),
                count == 0 ? "The method has no parameters." : "Use #p0, #p1, …, or compile with -parameters.",
                facts);
    }

    /** @param variables those of the path */
    static ExpressionScope ofRequest(String place, List<String> variables) {
        return new ExpressionScope(
                place,
                "a request",
                RequestRoot.class,
                Set.of(),
                variables,
                List.of(),
                ArgumentPositions.NONE,
                "There are clientIp, principal, header('…') and, for a path such as /tenants/{tenant}/**, #tenant.",
                () -> CallerFacts.REQUEST);
    }

    boolean isOfMethod() {
        return root == ExpressionRoot.class;
    }

    boolean hasVariable(String name) {
        return names.contains(name) || positions.contains(name) || name.equals("root") || name.equals("this");
    }

    /** @param label property and text of the expression */
    RateLimitConfigurationException noSuchVariable(String label, String name) {
        String problem = label + " names #" + name
                + (isOfMethod()
                        ? ", but the method has no such parameter."
                        : ", but the path has no such variable, and a request no parameters of a method.");
        String known = (isOfMethod() ? "Its parameters: #" : "Its variables: #") + String.join(", #", names) + ".";
        String nearest = LimitNames.nearest(name, names)
                .map(variable -> "#" + variable)
                .or(() -> nearestOfTheRequest(name))
                .map(meant -> "Did you mean " + meant + "? ")
                .orElse("");
        return new RateLimitConfigurationException(problem, nearest + (names.isEmpty() ? nameless : known));
    }

    /** What is written without a #, if it can be asked here. */
    private Optional<String> nearestOfTheRequest(String name) {
        return LimitNames.nearest(name, OF_A_REQUEST.keySet())
                .filter(known -> facts.get().problem(known) == null)
                .map(OF_A_REQUEST::get);
    }

    /** What there is instead of a property or method that there is not, the nearest first. */
    String choices(String name) {
        String nearest = LimitNames.nearest(name, OF_A_REQUEST.keySet())
                .map(known -> "Did you mean " + OF_A_REQUEST.get(known) + "? ")
                .orElse("");
        return nearest
                + (isOfMethod()
                        ? "There are #parameterName, #root.args and, in a web request, clientIp, principal and header('…')."
                        : "There are clientIp, principal and header('…'), and the path's variables, such as #tenant.");
    }
}
