package io.ratelimit.aop;

import io.ratelimit.LimitCatalog;
import io.ratelimit.LimitNames;
import io.ratelimit.LimitOverrides;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitAnnotations.Found;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/** Merges annotation and configuration and parses what they say. */
public final class LimitedMethodFactory {

    private final LimitCatalog catalog;

    private final ConfigurableBeanFactory beans;

    private final RateLimitExpressions expressions;

    private final CallStyles styles;

    /** @param requests whether there are web requests in this application */
    public LimitedMethodFactory(
            LimitCatalog catalog, ConfigurableBeanFactory beans, CallStyles styles, boolean requests) {
        this.catalog = catalog;
        this.beans = beans;
        this.styles = styles;
        this.expressions = new RateLimitExpressions(beans, requests);
    }

    LimitedMethod create(Method method, Class<?> targetClass, List<Found> found) {
        List<RateLimitOperation> operations = new ArrayList<>();
        for (Found annotation : found) {
            RateLimitOperation operation = create(method, annotation);
            if (operations.stream().anyMatch(other -> other.limit() == operation.limit())) {
                throw new RateLimitConfigurationException(
                                "the limit '" + operation.limit().name() + "' stands twice on the same method.",
                                "Give each its own name.")
                        .at(annotation.place());
            }
            operations.add(operation);
        }
        return new LimitedMethod(method, operations, fallback(method, targetClass, found), style(method), expressions);
    }

    private CallStyle style(Method method) {
        try {
            return styles.of(method);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(RateLimitAnnotations.describe(method));
        }
    }

    private RateLimitOperation create(Method method, Found found) {
        try {
            return operation(method, found);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(found.ofType() ? RateLimitAnnotations.describe(method) : found.place());
        }
    }

    private RateLimitOperation operation(Method method, Found found) {
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
        LimitOverrides overrides = catalog.settings().overrides(name);
        String permits = overrides.permits() != null ? overrides.permits() : annotation.permits();
        if (permits.matches("-\\d+")) {
            throw new RateLimitConfigurationException(
                    label("permits", overrides.permits(), overrides) + " " + permits + " is negative.",
                    "Give what a call costs; 0 is free.");
        }
        boolean fixed = permits.matches("\\d{1,10}");
        return new RateLimitOperation(
                catalog.declare(limit, found.place(), named),
                expression("keyExpression", overrides.keyExpression(), annotation.keyExpression(), overrides, method),
                fixed ? Long.parseLong(permits) : 1,
                fixed ? null : expression("permits", overrides.permits(), annotation.permits(), overrides, method),
                expression("condition", overrides.condition(), annotation.condition(), overrides, method),
                overrides.refundOn() != null ? overrides.refundOn() : List.of(annotation.refundOn()));
    }

    private String rate(RateLimited annotation) {
        try {
            String rate = beans.resolveEmbeddedValue(annotation.rate());
            return rate == null ? "" : rate;
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    "rate \"" + annotation.rate() + "\" has a placeholder that nothing resolves.",
                    "Set the property, or give it a default: \"${quotes.rate:10/s}\".",
                    ex);
        }
    }

    private static Duration duration(String text) {
        if (text.isEmpty()) {
            return Duration.ZERO;
        }
        try {
            return DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    "maxWait \"" + text + "\" is not a duration.", "Write it like \"500ms\", \"2s\" or \"PT2S\".", ex);
        }
    }

    private @Nullable RateLimitExpression expression(
            String attribute, @Nullable String override, String declared, LimitOverrides overrides, Method method) {
        String text = override != null ? override : declared;
        return text.isEmpty() ? null : expressions.parse(text, label(attribute, override, overrides), method);
    }

    /** Names the attribute where its value stands: in the annotation, or in the configuration. */
    private static String label(String attribute, @Nullable String override, LimitOverrides overrides) {
        return override == null ? attribute : overrides.property() + "." + LimitNames.kebabCase(attribute);
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
                        "the method has several fallback methods: " + String.join(", ", names) + ".",
                        "Give all its annotations the same one.");
            }
            return names.isEmpty() ? null : FallbackMethod.find(names.get(0), method, targetClass);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(RateLimitAnnotations.describe(method));
        }
    }
}
