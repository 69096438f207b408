package io.ratelimit.web.openapi;

import io.ratelimit.internal.limiter.MethodLimits;
import io.ratelimit.web.HeaderFormat;
import io.ratelimit.web.RequestRuleMapping;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import java.lang.reflect.Method;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.web.method.HandlerMethod;

/**
 * Describes the limits of handler methods, and then those of URL rules, because only the whole document has the paths.
 *
 * @param methods finds the limits of a method of a class
 * @param rules the URL rules; {@code null} if there are none
 */
public record RateLimitOpenApiCustomizer(
        BiFunction<Method, Class<?>, MethodLimits> methods,
        Supplier<@Nullable RequestRuleMapping> rules,
        HeaderFormat headers)
        implements GlobalOperationCustomizer, GlobalOpenApiCustomizer {

    @Override
    public Operation customize(Operation operation, HandlerMethod handler) {
        MethodLimits limits = methods.apply(handler.getMethod(), handler.getBeanType());
        new LimitDescriptions(headers).describe(operation, limits.limits(), !limits.fallback());
        return operation;
    }

    @Override
    public void customise(OpenAPI document) {
        RequestRuleMapping found = rules.get();
        if (found == null || document.getPaths() == null) {
            return;
        }
        document.getPaths()
                .forEach((path, item) -> item.readOperationsMap()
                        .forEach((method, operation) -> new LimitDescriptions(headers)
                                .describe(operation, found.limits(method.name(), path), true)));
    }
}
