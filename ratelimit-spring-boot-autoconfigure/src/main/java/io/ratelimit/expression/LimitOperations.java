package io.ratelimit.expression;

import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.limiter.LimitCatalog;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Creates operations: merges declarations with the configuration and parses their expressions. */
public final class LimitOperations {

    /** Matches misspellings of {@link LimitOverrides#ALL_CALLERS}, which are never valid expressions. */
    private static final Pattern LIKE_ALL_CALLERS = Pattern.compile("(?i)all[\\w -]*");

    private final LimitCatalog catalog;

    private final RateLimitExpressions expressions;

    public LimitOperations(LimitCatalog catalog, RateLimitExpressions expressions) {
        this.catalog = catalog;
        this.expressions = expressions;
    }

    /**
     * Merges a declaration with the configuration.
     *
     * @param scope the names that its expressions can use
     * @throws RateLimitConfigurationException if the merged declaration cannot work
     */
    public RateLimitOperation of(LimitDeclaration declaration, ExpressionScope scope) {
        LimitOverrides overrides = catalog.settings().overrides(declaration.name());
        String permits = overrides.permits() != null ? overrides.permits() : declaration.permits();
        if (permits.matches("-\\d+")) {
            throw new RateLimitConfigurationException(
                    overrides.label("permits", overrides.permits()) + " must not be negative (was " + permits + ").",
                    "Write what a call costs. 0 is free.");
        }
        boolean fixed = permits.matches("\\d{1,10}");
        return new RateLimitOperation(
                declaration.limit().get(),
                keyExpression(declaration, overrides, scope),
                fixed ? Long.parseLong(permits) : 1,
                fixed ? null : expression("permits", overrides.permits(), declaration.permits(), overrides, scope),
                expression("condition", overrides.condition(), declaration.condition(), overrides, scope),
                overrides.refundOn() != null ? overrides.refundOn() : declaration.refundOn());
    }

    /** Creates an operation for a limit that is referred to by its name only. */
    public RateLimitOperation ofConfiguration(String name, ExpressionScope scope) {
        return of(new LimitDeclaration(name, () -> catalog.configured(name), "", "1", "", List.of()), scope);
    }

    /** Returns the key expression, or {@code null} for one bucket for all callers. */
    private @Nullable RateLimitExpression keyExpression(
            LimitDeclaration declaration, LimitOverrides overrides, ExpressionScope scope) {
        String override = overrides.keyExpression();
        if (LimitOverrides.ALL_CALLERS.equals(override)) {
            return null;
        }
        if (override != null && LIKE_ALL_CALLERS.matcher(override).matches()) {
            throw new RateLimitConfigurationException(
                    overrides.label("keyExpression", override) + " must be an expression or "
                            + LimitOverrides.ALL_CALLERS + " (was \"" + override + "\").",
                    "Did you mean " + LimitOverrides.ALL_CALLERS + "?");
        }
        return expression("keyExpression", override, declaration.keyExpression(), overrides, scope);
    }

    private @Nullable RateLimitExpression expression(
            String attribute,
            @Nullable String override,
            String declared,
            LimitOverrides overrides,
            ExpressionScope scope) {
        String text = override != null ? override : declared;
        return text.isEmpty() ? null : expressions.parse(text, overrides.label(attribute, override), scope);
    }
}
