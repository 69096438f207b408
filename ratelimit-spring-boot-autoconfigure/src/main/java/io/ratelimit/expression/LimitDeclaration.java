package io.ratelimit.expression;

import io.ratelimit.RateLimit;
import java.util.List;
import java.util.function.Supplier;

/**
 * What one source says of a limit where it applies, annotation or configuration; the configuration's overrides still have
 * to win over it.
 *
 * @param name the limit's
 * @param limit enters the limit into the catalog, or finds it there
 * @param keyExpression empty: one bucket for all callers
 * @param condition empty: always
 */
public record LimitDeclaration(
        String name,
        Supplier<RateLimit> limit,
        String keyExpression,
        String permits,
        String condition,
        List<Class<? extends Throwable>> refundOn) {

    /** What a source says that names the limit and nothing else. */
    static LimitDeclaration ofConfiguration(String name, Supplier<RateLimit> limit) {
        return new LimitDeclaration(name, limit, "", "1", "", List.of());
    }
}
