package io.ratelimit.expression;

import java.net.InetAddress;
import java.security.Principal;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Converts the value of a key expression to a text that identifies it. */
final class KeyFormatter {

    /** Whether the text of a class identifies its value, unlike {@link Object#toString}. */
    private static final ClassValue<Boolean> HAS_TEXT = new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
            try {
                return !type.isArray()
                        && !Collection.class.isAssignableFrom(type)
                        && !Map.class.isAssignableFrom(type)
                        && type.getMethod("toString").getDeclaringClass() != Object.class;
            } catch (NoSuchMethodException ex) {
                return false;
            }
        }
    };

    private KeyFormatter() {}

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
