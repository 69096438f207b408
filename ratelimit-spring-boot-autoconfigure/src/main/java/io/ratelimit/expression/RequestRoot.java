package io.ratelimit.expression;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** The root object of expressions of a web request. Public, because SpEL compiles access to public types only. */
public class RequestRoot {

    final Evaluation evaluation;

    RequestRoot(Evaluation evaluation) {
        this.evaluation = evaluation;
    }

    public String getClientIp() {
        return evaluation.clientIp();
    }

    public @Nullable Principal getPrincipal() {
        return evaluation.principal();
    }

    public @Nullable String header(String name) {
        return evaluation.header(name);
    }
}
