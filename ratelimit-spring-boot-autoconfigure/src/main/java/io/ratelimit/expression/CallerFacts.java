package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;

/** What a method can know of its caller. */
public enum CallerFacts {

    /** Nothing. */
    NONE("this is not a web application", "Use the method's parameters."),

    /** Nothing, because the request is in a Reactor context, and the method does not see that. */
    OUT_OF_REACH(
            "in a reactive application only methods that return a publisher know the request",
            "Let the method return a Mono or a Flux, or use its parameters."),

    /** Who is logged in. */
    PRINCIPAL("this is not a web application", "Use principal or the method's parameters."),

    /** The whole request. */
    REQUEST("", "");

    private final String problem;

    private final String fix;

    CallerFacts(String problem, String fix) {
        this.problem = problem;
        this.fix = fix;
    }

    /** Why an expression cannot use this property or method of a request; {@code null} if it can. */
    @Nullable
    String problem(String name) {
        return this == REQUEST || (this == PRINCIPAL && name.equals("principal")) ? null : problem;
    }

    String fix() {
        return fix;
    }
}
