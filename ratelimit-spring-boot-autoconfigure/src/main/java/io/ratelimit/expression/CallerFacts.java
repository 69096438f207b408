package io.ratelimit.expression;

import org.jspecify.annotations.Nullable;

/** What expressions of a method can read from the web request. */
public enum CallerFacts {

    /** Nothing. */
    NONE(
            "this application runs neither Spring MVC nor WebFlux",
            "Use the method's parameters, or add spring-boot-starter-webmvc or spring-boot-starter-webflux. With"
                    + " spring.main.web-application-type=none, set ratelimit.enabled=false."),

    /** Nothing, because the request is in a Reactor context, which the method cannot read. */
    OUT_OF_REACH(
            "in a reactive application only methods that return a publisher know the request",
            "Let the method return a Mono or a Flux, or use its parameters."),

    /** Nothing, because the cost of a call is computed after it. */
    AFTERWARDS(
            "the cost is computed after the call, when the request may be over",
            "Use #result, #exception or the method's parameters."),

    /** Nothing, because the cost of a request is computed after its response. */
    RESPONDED(
            "the cost is computed after the response, when the request may be over",
            "Use #status or the path's variables."),

    /** The principal. */
    PRINCIPAL("this application runs neither Spring MVC nor WebFlux", "Use principal or the method's parameters."),

    /** The entire request. */
    REQUEST("", "");

    private final String problem;

    private final String fix;

    CallerFacts(String problem, String fix) {
        this.problem = problem;
        this.fix = fix;
    }

    /** Returns why an expression cannot use this member of a request; {@code null} if it can. */
    @Nullable
    String problem(String name) {
        return this == REQUEST || (this == PRINCIPAL && name.equals("principal")) ? null : problem;
    }

    String fix() {
        return fix;
    }
}
