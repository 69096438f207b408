package io.ratelimit.expression;

import java.net.InetAddress;
import java.security.Principal;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes the value of a key expression a text that stands for it alone. */
final class KeyFormatter {

    /** Whether a class says something of its own, or only {@code Object}'s class name and hash. */
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
     * @return {@code null} if there is no key
     * @throws IllegalArgumentException if two equal values could have different texts, or different ones the same
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
            throw new IllegalArgumentException("a " + value.getClass().getName()
                    + " is not a key; take a text or number of it, or join several with '+'");
        }
        return value.toString();
    }
}
