package io.ratelimit.expression;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/**
 * Defines the names that expressions can use: those of a method call, or those of a request to a URL.
 *
 * @param place the method or URL rule, for messages
 * @param subject describes the root object, such as {@code a call}
 * @param root the type of the root object
 * @param properties the properties of the root object that also exist outside of a web request
 * @param names the variables with names
 * @param positions the variables with numbers
 * @param arguments maps variables to arguments
 * @param types the declared types of variables, as far as they are known
 * @param hintWithoutNames tells how to write an expression if there are no names
 * @param hintOnProperties tells why a parameter may have other properties than in the source; empty: it has not
 * @param facts what expressions can read from the request
 */
record ExpressionScope(
        String place,
        String subject,
        Class<? extends RequestRoot> root,
        Set<String> properties,
        List<String> names,
        List<String> positions,
        ArgumentPositions arguments,
        Map<String, ResolvableType> types,
        String hintWithoutNames,
        String hintOnProperties,
        Supplier<CallerFacts> facts) {

    private static final List<String> REQUEST_MEMBERS = List.of("clientIp", "principal", "header");

    private static final List<String> AFTER_CALL = List.of("result", "exception");

    private static final List<String> AFTER_RESPONSE = List.of("status");

    static ExpressionScope of(Method method, ParameterNameDiscoverer parameterNames, Supplier<CallerFacts> facts) {
        @Nullable String @Nullable [] names = parameterNames.getParameterNames(method);
        int count = MethodSignatures.parameterCount(method);
        return new ExpressionScope(
                MethodSignatures.describe(method),
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
                ExpressionTypes.variables(method, ArgumentPositions.ofParameters(method, names)),
                count == 0 ? "The method has no parameters." : "Use #p0, #p1, …, or compile with -parameters.",
                MethodSignatures.hasValueClass(method)
                        ? " Kotlin passes a parameter of a value class as its value: write #parameter alone."
                        : "",
                facts);
    }

    /** @param variables names in the path of the rule */
    static ExpressionScope ofRequest(String place, List<String> variables) {
        return new ExpressionScope(
                place,
                "a request",
                RequestRoot.class,
                Set.of(),
                variables,
                List.of(),
                ArgumentPositions.NONE,
                Stream.concat(variables.stream(), AFTER_RESPONSE.stream())
                        .distinct()
                        .collect(Collectors.toMap(name -> name, name -> ofRequest(variables.contains(name)))),
                "There are clientIp, principal, header('…') and, for a path such as /tenants/{tenant}/**, #tenant.",
                "",
                () -> CallerFacts.REQUEST);
    }

    private static ResolvableType ofRequest(boolean isOfPath) {
        return ResolvableType.forClass(isOfPath ? String.class : Integer.class);
    }

    /** Returns the names that an expression can use after the call, or after the response to the request. */
    ExpressionScope afterwards(String attribute) {
        List<String> added = isOfMethod() ? AFTER_CALL : AFTER_RESPONSE;
        for (String name : added) {
            if (names.contains(name)) {
                throw new RateLimitConfigurationException(
                        attribute + " must not be used "
                                + (isOfMethod()
                                        ? "on a method with a parameter named "
                                        : "for a path with a variable named ")
                                + name + ", because #" + name + " would mean both.",
                        isOfMethod() ? "Rename the parameter." : "Rename the variable.");
            }
        }
        return new ExpressionScope(
                place,
                subject,
                root,
                properties,
                Stream.concat(added.stream(), names.stream()).toList(),
                positions,
                arguments,
                types,
                hintWithoutNames,
                hintOnProperties,
                () -> isOfMethod() ? CallerFacts.AFTERWARDS : CallerFacts.RESPONDED);
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
        String suggestion = LimitNames.didYouMean(name, names, variable -> "#" + variable);
        if (suggestion.isEmpty()) {
            suggestion = LimitNames.didYouMean(name, readableMembers(), ExpressionScope::spelling);
        }
        return new RateLimitConfigurationException(problem, suggestion + (names.isEmpty() ? hintWithoutNames : known));
    }

    private List<String> readableMembers() {
        return REQUEST_MEMBERS.stream()
                .filter(member -> facts.get().problem(member) == null)
                .toList();
    }

    private static String spelling(String requestMember) {
        return requestMember.equals("header") ? "header('…')" : requestMember;
    }

    /** Suggests what to write instead of an unknown property or method. */
    String choices(String name) {
        return LimitNames.didYouMean(name, REQUEST_MEMBERS, ExpressionScope::spelling)
                + (isOfMethod()
                        ? "There are #parameterName, #root.args and, in a web request, clientIp, principal and header('…')."
                        : "There are clientIp, principal and header('…'), and the path's variables, such as #tenant.");
    }
}
