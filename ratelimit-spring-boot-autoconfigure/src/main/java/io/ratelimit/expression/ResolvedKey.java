package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.spi.RateLimitKeyContext;
import io.ratelimit.spi.RateLimitKeyResolver;
import java.lang.reflect.Method;
import java.security.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/** Determines keys by a bean of the application. */
final class ResolvedKey implements LimitKey {

    private final String bean;

    private final String label;

    private final Supplier<RateLimitKeyResolver> resolver;

    /**
     * @param label place, attribute and name of the bean, for messages
     * @param resolver looks the bean up at the first call, because the bean may depend on limited beans
     */
    ResolvedKey(String bean, String label, Supplier<RateLimitKeyResolver> resolver) {
        this.bean = bean;
        this.label = label;
        this.resolver = resolver;
    }

    @Override
    public String key(Evaluation evaluation, RateLimit limit) {
        Object value;
        try {
            value = resolver.get().resolve(new Context(evaluation.context()));
        } catch (RuntimeException ex) {
            throw new RateLimitExpressionException(label + " failed", ex);
        }
        return KeyFormatter.key(value, label, limit);
    }

    @Override
    public String text() {
        return "resolver " + bean;
    }

    @Override
    public boolean readsPrincipal() {
        return true;
    }

    /** Reads what expressions read. */
    private static final class Context implements RateLimitKeyContext {

        private final EvaluationContext evaluation;

        private final RequestRoot root;

        Context(EvaluationContext evaluation) {
            this.evaluation = evaluation;
            Object value = evaluation.getRootObject().getValue();
            if (!(value instanceof RequestRoot requestRoot)) {
                throw new IllegalStateException("Not the root object of a call: " + value);
            }
            this.root = requestRoot;
        }

        @Override
        public @Nullable Method method() {
            return root instanceof ExpressionRoot call ? call.getMethod() : null;
        }

        @Override
        public @Nullable Object target() {
            return root instanceof ExpressionRoot call ? call.getTarget() : null;
        }

        @Override
        @SuppressWarnings("NullAway") // It cannot read the annotation of an array in another module on JDK 17.
        public @Nullable Object[] arguments() {
            return root instanceof ExpressionRoot call ? call.getArgs() : new Object[0];
        }

        @Override
        public @Nullable Object variable(String name) {
            return evaluation.lookupVariable(name);
        }

        @Override
        public boolean isRequest() {
            return root.hasRequest();
        }

        @Override
        public String clientIp() {
            return root.getClientIp();
        }

        @Override
        public @Nullable Principal principal() {
            return root.getPrincipal();
        }

        @Override
        public @Nullable String header(String name) {
            return root.header(name);
        }
    }
}
