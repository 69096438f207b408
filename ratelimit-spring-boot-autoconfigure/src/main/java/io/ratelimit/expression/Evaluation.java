package io.ratelimit.expression;

import io.ratelimit.spi.RateLimitKeyContext;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Provides the values that the expressions and key resolvers of one call or request read. */
public final class Evaluation implements RateLimitKeyContext {

    private final RateLimitExpressionParser expressions;

    private final @Nullable Method method;

    private final @Nullable Object target;

    /** Includes the continuation of Kotlin. */
    private final @Nullable Object[] passed;

    private final @Nullable RequestCall request;

    private final Map<String, ?> variables;

    private @Nullable EvaluationContext context;

    /**
     * Creates the values of a call of a method.
     *
     * @param passed the arguments
     * @param request {@code null}: outside of a request, or it may be over
     * @param variables of a request to a URL
     */
    public Evaluation(
            RateLimitExpressionParser expressions,
            @Nullable Method method,
            @Nullable Object target,
            @Nullable Object[] passed,
            @Nullable RequestCall request,
            Map<String, ?> variables) {
        this.expressions = expressions;
        this.method = method;
        this.target = target;
        this.passed = passed;
        this.request = request;
        this.variables = variables;
    }

    /** Creates the values of a request to a URL. */
    Evaluation(RateLimitExpressionParser expressions, @Nullable RequestCall request, Map<String, ?> variables) {
        this(expressions, null, null, new Object[0], request, variables);
    }

    /** Returns the context for SpEL. Creates it on demand, because that takes longer than reading most keys. */
    public EvaluationContext context() {
        EvaluationContext known = context;
        if (known == null) {
            RequestRoot root = method == null ? new RequestRoot(this) : new ExpressionRoot(this);
            known = expressions.context(root, method, passed, variables);
            context = known;
        }
        return known;
    }

    @Nullable
    Object[] passed() {
        return passed;
    }

    @Nullable
    Object requestVariable(String name) {
        return variables.get(name);
    }

    @Override
    public @Nullable Method method() {
        return method;
    }

    @Override
    public @Nullable Object target() {
        return target;
    }

    @Override
    @SuppressWarnings("NullAway") // It cannot read the annotation of an array in another module on JDK 17.
    public @Nullable Object[] arguments() {
        int count = method == null ? passed.length : MethodSignatures.parameterCount(method);
        return count == passed.length ? passed : Arrays.copyOf(passed, count);
    }

    @Override
    public @Nullable Object variable(String name) {
        return context().lookupVariable(name);
    }

    @Override
    public boolean isRequest() {
        return request != null;
    }

    @Override
    public String clientIp() {
        return request().clientIp();
    }

    @Override
    public @Nullable Principal principal() {
        return request().principal();
    }

    @Override
    public @Nullable String header(String name) {
        return request().header(name);
    }

    private RequestCall request() {
        if (request == null) {
            throw new IllegalStateException("clientIp, principal and header() must be used during a web request");
        }
        return request;
    }
}
