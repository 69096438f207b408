package io.ratelimit.expression;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/**
 * Defines the names that expressions can use: those of a method call, or those of a request to a URL.
 *
 * @param place the method or URL rule, for messages
 * @param method {@code null}: a request to a URL
 * @param names the variables with names
 * @param arguments the positions of the arguments, counted from 0, by variables with names or numbers
 * @param types the declared types of variables, as far as they are known
 * @param facts what expressions can read from the request
 */
record ExpressionScope(
        String place,
        @Nullable Method method,
        List<String> names,
        Map<String, Integer> arguments,
        Map<String, ResolvableType> types,
        Supplier<CallerFacts> facts) {

    private static final List<String> REQUEST_MEMBERS = List.of("clientIp", "principal", "header");

    private static final List<String> AFTER_CALL = List.of("result", "exception");

    private static final List<String> AFTER_RESPONSE = List.of("status");

    /** @param targetClass the class of the bean, which may tell types that the method leaves open */
    static ExpressionScope of(
            Method method, Class<?> targetClass, ParameterNameDiscoverer parameterNames, Supplier<CallerFacts> facts) {
        @Nullable String @Nullable [] names = parameterNames.getParameterNames(method);
        Map<String, Integer> arguments = arguments(method, names);
        return new ExpressionScope(
                MethodSignatures.describe(method),
                method,
                names == null
                        ? List.of()
                        : Arrays.stream(names)
                                .limit(MethodSignatures.parameterCount(method))
                                .filter(Objects::nonNull)
                                .toList(),
                arguments,
                ExpressionTypes.variables(method, targetClass, arguments),
                facts);
    }

    /** Returns no positions if the arguments differ from those in the source. */
    private static Map<String, Integer> arguments(Method method, @Nullable String @Nullable [] names) {
        int count = MethodSignatures.parameterCount(method);
        if (names != null && names.length != count && names.length != method.getParameterCount()) {
            return Map.of();
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
        return byVariable;
    }

    /** @param variables names in the path of the rule */
    static ExpressionScope ofRequest(String place, List<String> variables) {
        Map<String, ResolvableType> types = new HashMap<>();
        AFTER_RESPONSE.forEach(name -> types.put(name, ResolvableType.forClass(Integer.class)));
        variables.forEach(name -> types.put(name, ResolvableType.forClass(String.class)));
        return new ExpressionScope(place, null, variables, Map.of(), types, () -> CallerFacts.REQUEST);
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
                method,
                Stream.concat(added.stream(), names.stream()).toList(),
                arguments,
                types,
                () -> isOfMethod() ? CallerFacts.AFTERWARDS : CallerFacts.RESPONDED);
    }

    boolean isOfMethod() {
        return method != null;
    }

    /** Returns the type of the root object. */
    Class<? extends RequestRoot> root() {
        return isOfMethod() ? ExpressionRoot.class : RequestRoot.class;
    }

    /** Describes the root object. */
    String subject() {
        return isOfMethod() ? "a call" : "a request";
    }

    boolean hasVariable(String name) {
        return names.contains(name) || arguments.containsKey(name) || name.equals("root") || name.equals("this");
    }

    /** Explains why a parameter may have other properties than in the source; empty: it has not. */
    String hintOnProperties() {
        return method != null && MethodSignatures.hasValueClass(method)
                ? " Kotlin passes a parameter of a value class as its value: write #parameter alone."
                : "";
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
            List<String> readable = REQUEST_MEMBERS.stream()
                    .filter(member -> facts.get().problem(member) == null)
                    .toList();
            suggestion = LimitNames.didYouMean(name, readable, ExpressionScope::spelling);
        }
        return new RateLimitConfigurationException(
                problem, suggestion + (names.isEmpty() ? hintWithoutNames() : known));
    }

    private String hintWithoutNames() {
        if (method == null) {
            return "There are clientIp, principal, header('…') and, for a path such as /tenants/{tenant}/**, #tenant.";
        }
        return MethodSignatures.parameterCount(method) == 0
                ? "The method has no parameters."
                : "Use #p0, #p1, …, or compile with -parameters.";
    }

    private static String spelling(String requestMember) {
        return requestMember.equals("header") ? "header('…')" : requestMember;
    }

    /** Suggests what to write instead of an unknown property or method. */
    String choices(String name) {
        return LimitNames.didYouMean(name, REQUEST_MEMBERS, ExpressionScope::spelling)
                + (isOfMethod()
                        ? "There are #parameterName, #root.args and, in a web request, clientIp, principal and header('…')."
                        : "There are clientIp, principal and header('…'), and the path's variables, such as #tenant."
                                + " The rule's methods and path say what requests it limits.");
    }
}
