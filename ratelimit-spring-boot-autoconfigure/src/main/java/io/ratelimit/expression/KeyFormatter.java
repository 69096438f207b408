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
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** Converts the value of a key to a text that identifies it. */
final class KeyFormatter {

    /** Whether the text of a class identifies its value, unlike {@link Object#toString}. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return isOne(type) && type.getMethod("toString").getDeclaringClass() != Object.class;
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
        if (value instanceof String text && !text.isEmpty()) {
            // Most keys: the tests below take a quarter of an allowed call.
            return text;
        }
        Object single = unwrap(value);
        if (single != null && isAwaited(single.getClass())) {
            throw new RateLimitExpressionException(
                    label + " must return the value itself, because nothing waits for it (was a "
                            + single.getClass().getName() + ")",
                    null);
        }
        if (single != null && !isSingle(single)) {
            throw new RateLimitExpressionException(
                    label + " must return a single value with its own toString() (was a "
                            + single.getClass().getName() + "); join several values with '+'",
                    null);
        }
        String key = single == null ? null : text(single, label, limit);
        if (key == null || key.isEmpty()) {
            throw new MissingRateLimitKeyException(
                    limit.name(), label + " must return a key (was " + (key == null ? "null" : "empty") + ")", null);
        }
        return key;
    }

    /** Returns whether values of a declared type can be keys, as far as the type tells: those of a subclass may have a text. */
    static boolean mayBeKey(Class<?> declared) {
        Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(declared);
        return isOne(type)
                && (Modifier.isAbstract(type.getModifiers())
                        || type == Object.class
                        || type == Optional.class
                        || Principal.class.isAssignableFrom(type)
                        || HAS_TEXT.get(type));
    }

    private static boolean isOne(Class<?> type) {
        return !isSeveral(type) && !isAwaited(type);
    }

    /** Returns whether values of a type have another value later: its text would not identify that. */
    static boolean isAwaited(Class<?> type) {
        return Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || Flow.Publisher.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    static boolean isSeveral(Class<?> type) {
        return type.isArray() || Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type);
    }

    /** Returns the value of an optional one; {@code null} if it is empty. */
    static @Nullable Object unwrap(@Nullable Object value) {
        if (value instanceof Optional<?> optional) {
            return unwrap(optional.orElse(null));
        }
        if (value instanceof OptionalInt number) {
            return number.isPresent() ? number.getAsInt() : null;
        }
        if (value instanceof OptionalLong number) {
            return number.isPresent() ? number.getAsLong() : null;
        }
        if (value instanceof OptionalDouble number) {
            return number.isPresent() ? number.getAsDouble() : null;
        }
        return value;
    }

    /** Returns whether the text of a value identifies it. */
    static boolean isSingle(Object value) {
        return value instanceof Principal || HAS_TEXT.get(value.getClass());
    }

    /**
     * Returns the text of a {@linkplain #isSingle single} value.
     *
     * @throws RateLimitExpressionException if the value has none; the message repeats nothing of the value
     */
    static @Nullable String text(Object value, String label, RateLimit limit) {
        try {
            if (value instanceof Principal principal) {
                return principal.getName();
            }
            if (value instanceof Enum<?> constant) {
                return constant.name();
            }
            return value instanceof InetAddress address ? address.getHostAddress() : value.toString();
        } catch (RuntimeException ex) {
            throw ExpressionFailureMapper.of(label, limit, ex, false);
        }
    }
}
