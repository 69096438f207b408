package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.RateLimitKeyResolver;
import java.util.function.Supplier;

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
            value = resolver.get().resolve(evaluation);
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
}
