package io.ratelimit.aop;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitAnnotations.Found;
import io.ratelimit.expression.LimitDeclaration;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.expression.RateLimitExpressions;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.limiter.LimitCatalog;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/** Works out what limits a method: what its annotations say, and what the configuration says of it. */
public final class LimitedMethodFactory {

    private final LimitCatalog catalog;

    private final ConfigurableBeanFactory beans;

    private final RateLimitExpressions expressions;

    private final LimitOperations operations;

    private final ReturnTypeStrategies styles;

    public LimitedMethodFactory(LimitCatalog catalog, ConfigurableBeanFactory beans, ReturnTypeStrategies styles) {
        this.catalog = catalog;
        this.beans = beans;
        this.styles = styles;
        this.expressions = new RateLimitExpressions(beans, styles::facts);
        this.operations = new LimitOperations(catalog, expressions);
    }

    /** What the annotations of a method come to. Their limits are declared by it. */
    List<RateLimitOperation> annotated(Method method, List<Found> found) {
        List<RateLimitOperation> annotated = new ArrayList<>();
        for (Found annotation : found) {
            RateLimitOperation operation = annotated(method, annotation);
            if (annotated.stream().anyMatch(other -> other.limit() == operation.limit())) {
                throw new RateLimitConfigurationException(
                                "name must be unique among the annotations of a method (was \""
                                        + operation.limit().name() + "\" twice).",
                                "Give each limit its own name.")
                        .at(annotation.place());
            }
            annotated.add(operation);
        }
        return annotated;
    }

    /** @param matched limits that the method is charged to by the configuration, unless its annotations say so already */
    LimitedMethod create(
            Method method,
            Class<?> targetClass,
            List<Found> found,
            List<RateLimitOperation> annotated,
            List<LimitPointcut> matched) {
        List<RateLimitOperation> all = new ArrayList<>(annotated);
        for (LimitPointcut pointcut : matched) {
            RateLimitOperation operation = matched(method, pointcut);
            if (annotated.stream().noneMatch(other -> other.limit() == operation.limit())) {
                all.add(operation);
            }
        }
        ReturnTypeStrategy style = style(method);
        checkRefunds(method, all, style);
        return new LimitedMethod(method, all, fallback(method, targetClass, found), style, expressions);
    }

    private static void checkRefunds(Method method, List<RateLimitOperation> operations, ReturnTypeStrategy style) {
        for (RateLimitOperation operation : operations) {
            if (!operation.refundOn().isEmpty() && !style.seesFailures()) {
                throw new RateLimitConfigurationException(
                                "refundOn of the limit '" + operation.limit().name()
                                        + "' must be empty, because the failure of a "
                                        + method.getReturnType().getName() + " cannot be observed.",
                                "Return a CompletableFuture, or remove refundOn.")
                        .at(MethodSignatures.describe(method));
            }
        }
    }

    private ReturnTypeStrategy style(Method method) {
        try {
            return styles.of(method);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(MethodSignatures.describe(method));
        }
    }

    private RateLimitOperation annotated(Method method, Found found) {
        try {
            return operations.of(declaration(found), expressions.scope(method));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(found.ofType() ? MethodSignatures.describe(method) : found.place());
        }
    }

    private RateLimitOperation matched(Method method, LimitPointcut pointcut) {
        try {
            return operations.ofConfiguration(pointcut.limit(), expressions.scope(method));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(MethodSignatures.describe(method));
        }
    }

    private LimitDeclaration declaration(Found found) {
        RateLimited annotation = found.annotation();
        boolean named = StringUtils.hasText(annotation.name());
        String name = named ? annotation.name() : found.defaultName();
        RateLimit limit = RateLimit.named(name)
                .algorithm(annotation.algorithm())
                .capacity(annotation.capacity())
                .rate(rate(annotation))
                .refill(annotation.refill())
                .maxWait(duration(annotation.maxWait()))
                .apply(catalog.settings())
                .build();
        return new LimitDeclaration(
                name,
                () -> catalog.declare(limit, found.place(), named),
                annotation.keyExpression(),
                annotation.permits(),
                annotation.condition(),
                List.of(annotation.refundOn()));
    }

    private String rate(RateLimited annotation) {
        String rate;
        try {
            rate = beans.resolveEmbeddedValue(annotation.rate());
        } catch (IllegalArgumentException ex) {
            throw unresolved(annotation.rate(), ex);
        }
        if (rate != null && rate.contains("${")) {
            throw unresolved(rate, null);
        }
        return rate == null ? "" : rate;
    }

    private static RateLimitConfigurationException unresolved(String rate, @Nullable Exception cause) {
        return new RateLimitConfigurationException(
                "rate must not have an unresolved placeholder (was \"" + rate + "\").",
                "Set the property, or give it a default: \"${quotes.rate:10/s}\".",
                cause);
    }

    private static Duration duration(String text) {
        if (text.isEmpty()) {
            return Duration.ZERO;
        }
        try {
            return DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    "maxWait must be a duration (was \"" + text + "\").",
                    "Write it like \"500ms\", \"2s\" or \"PT2S\".",
                    ex);
        }
    }

    private static @Nullable FallbackMethod fallback(Method method, Class<?> targetClass, List<Found> found) {
        List<String> names = found.stream()
                .map(annotation -> annotation.annotation().fallbackMethod())
                .filter(StringUtils::hasText)
                .distinct()
                .toList();
        try {
            if (names.size() > 1) {
                throw new RateLimitConfigurationException(
                        "fallbackMethod must be the same in all annotations of a method (was "
                                + String.join(", ", names) + ").",
                        "Name one method in all of them.");
            }
            return names.isEmpty() ? null : FallbackMethod.find(names.get(0), method, targetClass);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(MethodSignatures.describe(method));
        }
    }
}
