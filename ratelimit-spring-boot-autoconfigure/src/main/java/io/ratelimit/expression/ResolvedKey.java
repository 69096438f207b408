package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import io.ratelimit.spi.RateLimitKeyResolver;
import java.util.function.Supplier;

/**
 * Determines keys by a bean of the application.
 *
 * @param label place, attribute and name of the bean, for messages
 * @param resolver looks the bean up at the first call, because the bean may depend on limited beans
 */
record ResolvedKey(String bean, String label, Supplier<RateLimitKeyResolver> resolver) implements LimitKey {

    @Override
    public String key(Evaluation evaluation, RateLimit limit) {
        Object value;
        try {
            value = resolver.get().resolve(evaluation);
        } catch (Throwable ex) {
            throw ExpressionFailureMapper.of(label, limit, ex, false);
        }
        return KeyFormatter.key(value, label, limit);
    }

    @Override
    public String text() {
        return "resolver " + bean;
    }
}
