package io.ratelimit.expression;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitExpressionException;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.security.Principal;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Converts the value of a key to a text that identifies it. */
final class KeyFormatter {

    /** Whether the text of a class identifies its value, unlike {@link Object#toString}. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return !isSeveral(type) && type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException ex) {
                return false;
            }
        }
    };

    private KeyFormatter() {}

    /**
     * Converts the value of a key.
     *
     * @param label what the value comes from, for messages
     * @throws MissingRateLimitKeyException if the key is null or empty
     * @throws RateLimitExpressionException if the text of the value does not identify it
     */
    static String key(@Nullable Object value, String label, RateLimit limit) {
        String key;
        try {
            key = of(value);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitExpressionException(label + " " + ex.getMessage(), ex);
        }
        if (key == null || key.isEmpty()) {
            throw missing(label, limit, key == null ? "null" : "empty", null);
        }
        return key;
    }

    static MissingRateLimitKeyException missing(
            String label, RateLimit limit, String value, @Nullable Throwable cause) {
        return new MissingRateLimitKeyException(limit.name(), label + " must return a key (was " + value + ")", cause);
    }

    /** Returns whether values of a declared type can be keys, as far as the type tells: those of a subclass may have a text. */
    static boolean mayBeKey(Class<?> declared) {
        Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(declared);
        return !isSeveral(type)
                && (Modifier.isAbstract(type.getModifiers())
                        || type == Object.class
                        || type == Optional.class
                        || Principal.class.isAssignableFrom(type)
                        || HAS_TEXT.get(type));
    }

    private static boolean isSeveral(Class<?> type) {
        return type.isArray() || Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    /**
     * Converts a value.
     *
     * @return {@code null} if the value is null
     * @throws IllegalArgumentException if the text of the value does not identify it
     */
    static @Nullable String of(@Nullable Object value) {
        if (value == null || value instanceof String) {
            return (String) value;
        }
        if (value instanceof Principal principal) {
            return principal.getName();
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof InetAddress address) {
            return address.getHostAddress();
        }
        if (value instanceof Optional<?> optional) {
            return of(optional.orElse(null));
        }
        if (!HAS_TEXT.get(value.getClass())) {
            throw new IllegalArgumentException("must return a single value with its own toString() (was a "
                    + value.getClass().getName() + "); join several values with '+'");
        }
        return value.toString();
    }
}
