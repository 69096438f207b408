package io.ratelimit.autoconfigure;

import io.ratelimit.RateLimitConfigurationException;
import org.springframework.core.Ordered;

/** Reads {@code ratelimit.order}: a word for one of the two orders beside Spring Security's method security, or a number. */
final class AdviceOrder {

    /** Before all others. */
    static final String BEFORE_SECURITY = "before-security";

    /** Behind all of Spring Security's interceptors, which are at 100 to 600, and before transactions and caches. */
    private static final int BEHIND = 1000;

    private AdviceOrder() {}

    /** @throws RateLimitConfigurationException if it is neither */
    static int of(String text) {
        return switch (text.strip()) {
            case BEFORE_SECURITY -> Ordered.HIGHEST_PRECEDENCE;
            case "after-security" -> BEHIND;
            default -> number(text.strip());
        };
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
