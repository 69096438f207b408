package io.ratelimit.autoconfigure.properties;

import io.ratelimit.RateLimitConfigurationException;
import org.springframework.core.Ordered;

/** Parses {@code ratelimit.order}: a number, or a word that refers to Spring Security's method security. */
public final class AdviceOrder {

    public static final String BEFORE_SECURITY = "before-security";

    /** The order of Spring Security's last interceptor. */
    private static final int LAST_OF_SECURITY = 600;

    /** Follows Spring Security's interceptors, which have 100 to 600, and precedes transactions and caches. */
    private static final int AFTER_SECURITY = 1000;

    private AdviceOrder() {}

    /**
     * Returns the order of the advice.
     *
     * @throws RateLimitConfigurationException if the text is neither a number nor one of the words
     */
    public static int of(String text) {
        return switch (text.strip()) {
            case BEFORE_SECURITY -> Ordered.HIGHEST_PRECEDENCE;
            case "after-security" -> AFTER_SECURITY;
            default -> number(text.strip());
        };
    }

    /** Returns whether advice of this order may precede one of Spring Security's interceptors. */
    public static boolean isBeforeSecurity(int order) {
        return order <= LAST_OF_SECURITY;
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException ex) {
            throw new RateLimitConfigurationException(
                    "ratelimit.order must be before-security, after-security or a whole number (was \"" + text + "\").",
                    "Lower numbers come first; Spring Security's interceptors are at 100 to 600.",
                    ex);
        }
    }
}
