package io.ratelimit.aop;

import io.ratelimit.Algorithm;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitBuilder;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.Refill;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitAnnotations.LimitAnnotation;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.expression.RateLimitExpressionParser;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limiter.JointLimits;
import io.ratelimit.internal.limiter.LimitCatalog;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/** Creates limited methods from annotations and the configuration. */
public record LimitedMethodFactory(
        LimitOperations operations, ConfigurableListableBeanFactory beans, ReturnTypeStrategySelector strategies) {

    public LimitedMethodFactory(
            LimitCatalog catalog, ConfigurableListableBeanFactory beans, ReturnTypeStrategySelector strategies) {
        this(new LimitOperations(catalog, new RateLimitExpressionParser(beans, strategies::facts)), beans, strategies);
    }

    /** Creates the operations of annotations, and declares their limits. */
    List<RateLimitOperation> annotated(Method method, Class<?> targetClass, List<LimitAnnotation> annotations) {
        List<RateLimitOperation> annotated = new ArrayList<>();
        for (LimitAnnotation annotation : annotations) {
            RateLimitOperation operation = annotated(method, targetClass, annotation);
            if (annotated.stream().anyMatch(other -> other.effective() == operation.effective())) {
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

    /** @param pointcuts those that match the method; ignored for limits that its annotations name already */
    LimitedMethod create(
            Method method,
            Class<?> targetClass,
            List<LimitAnnotation> annotations,
            List<RateLimitOperation> annotated,
            List<LimitPointcut> pointcuts) {
        try {
            List<RateLimitOperation> all = new ArrayList<>(annotated);
            for (LimitPointcut pointcut : pointcuts) {
                RateLimitOperation operation = operations.ofConfiguration(
                        pointcut.limit(), operations.expressions().scope(method, targetClass));
                if (annotated.stream().noneMatch(other -> other.effective() == operation.effective())) {
                    all.add(operation);
                }
            }
            ReturnTypeStrategy strategy = strategies.of(method);
            checkRefunds(method, all);
            checkHolds(method, all);
            JointLimits.check(
                    operations.catalog(),
                    all.stream().map(RateLimitOperation::effective).toList(),
                    MethodSignatures.describe(method));
            return LimitedMethod.of(
                    method,
                    DeclarativeClient.isMethodOf(method, targetClass),
                    all,
                    fallback(method, targetClass, annotations),
                    strategy,
                    operations);
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(MethodSignatures.describe(method));
        }
    }

    private static void checkRefunds(Method method, List<RateLimitOperation> operations) {
        String unobserved = LateResults.isPlainFuture(method.getReturnType())
                ? " of a " + method.getReturnType().getName() + " cannot be observed"
                : null;
        String noResult = LateResults.isHandedOver(method)
                ? "an @Async method that returns void has returned before it begins"
                : unobserved == null ? null : "the result" + unobserved;
        for (RateLimitOperation operation : operations) {
            if (operation.actualCost() != null && noResult != null) {
                throw mustBeEmpty("permitsAfter", operation, noResult);
            }
            if (!operation.refundOn().isEmpty() && unobserved != null) {
                throw mustBeEmpty("refundOn", operation, "the failure" + unobserved);
            }
        }
    }

    private static RateLimitConfigurationException mustBeEmpty(
            String attribute, RateLimitOperation operation, String reason) {
        return new RateLimitConfigurationException(
                attribute + " of the limit '" + operation.limit().name() + "' must be empty, because " + reason + ".",
                "Return a CompletableFuture, or remove " + attribute + ".");
    }

    private void checkHolds(Method method, List<RateLimitOperation> limited) {
        Class<?> unobserved = LateResults.unobserved(method);
        if (unobserved != null) {
            for (RateLimitOperation operation : limited) {
                checkHolds(unobserved, operation.limit());
                operation.effective().addCheck(operations.catalog(), candidate -> checkHolds(unobserved, candidate));
            }
        }
    }

    private static void checkHolds(Class<?> unobserved, RateLimit limit) {
        if (!limit.hasRate()) {
            throw new RateLimitConfigurationException(
                    "the algorithm of the limit '" + limit.name()
                            + "' must not be CONCURRENCY here, because the end of a call that returns "
                            + unobserved.getName() + " cannot be observed.",
                    "Limit the requests by a URL rule (ratelimit.http), return a CompletableFuture, or use an"
                            + " algorithm with a rate.");
        }
    }

    private RateLimitOperation annotated(Method method, Class<?> targetClass, LimitAnnotation declared) {
        RateLimited annotation = declared.annotation();
        boolean named = StringUtils.hasText(annotation.name());
        String name = named ? annotation.name() : declared.defaultName();
        try {
            LimitConfiguration calls = LimitConfiguration.of(name).with(calls(annotation));
            RateLimit limit = operations.catalog().settings().apply(builder(name, annotation));
            return operations.of(
                    calls,
                    () -> operations.catalog().declare(limit, declared.place(), named),
                    operations.expressions().scope(method, targetClass));
        } catch (RateLimitConfigurationException ex) {
            throw ex.at(declared.ofType() ? MethodSignatures.describe(method) : declared.place());
        }
    }

    /** Returns what the annotation sets for calls. */
    private static AttributeValues calls(RateLimited annotation) {
        Class<? extends Throwable>[] refundOn = annotation.refundOn();
        return AttributeValues.NONE
                .with(LimitAttributes.KEY_EXPRESSION, set(annotation.keyExpression()))
                .with(LimitAttributes.KEY_RESOLVER, set(annotation.keyResolver()))
                .with(LimitAttributes.PERMITS, set(annotation.permits()))
                .with(LimitAttributes.CONDITION, set(annotation.condition()))
                .with(LimitAttributes.PERMITS_AFTER, set(annotation.permitsAfter()))
                .with(LimitAttributes.REFUND_ON, refundOn.length == 0 ? null : List.of(refundOn))
                .with(LimitAttributes.PLAN_EXPRESSION, set(annotation.planExpression()))
                .with(LimitAttributes.PLAN_RESOLVER, set(annotation.planResolver()));
    }

    private static @Nullable String set(String text) {
        return text.isEmpty() ? null : text;
    }

    /** Sets what the annotation sets: an attribute with the default value of the annotation counts as not set. */
    private RateLimitBuilder builder(String name, RateLimited annotation) {
        RateLimitBuilder builder = RateLimit.named(name).capacity(annotation.capacity());
        if (annotation.algorithm() != Algorithm.TOKEN_BUCKET) {
            builder.algorithm(annotation.algorithm());
        }
        if (annotation.refill() != Refill.CONTINUOUS) {
            builder.refill(annotation.refill());
        }
        if (annotation.scope() != Scope.SHARED) {
            builder.scope(annotation.scope());
        }
        String rate = rate(annotation);
        if (!rate.isEmpty()) {
            builder.rate(rate);
        }
        if (!annotation.maxWait().isEmpty()) {
            builder.maxWait(duration("maxWait", annotation.maxWait(), "\"500ms\", \"2s\" or \"PT2S\""));
        }
        if (!annotation.blockFor().isBlank()) {
            builder.blockFor(Arrays.stream(annotation.blockFor().split(",", -1))
                    .map(text -> duration("blockFor", text.strip(), "\"1m\", or \"1m, 10m, 1h\""))
                    .toArray(Duration[]::new));
        }
        return builder;
    }

    private String rate(RateLimited annotation) {
        String rate = annotation.rate();
        Exception cause = null;
        try {
            rate = beans.resolveEmbeddedValue(rate);
        } catch (IllegalArgumentException ex) {
            cause = ex;
        }
        if (cause != null || (rate != null && rate.contains("${"))) {
            throw new RateLimitConfigurationException(
                    "rate must not have an unresolved placeholder (was \"" + rate + "\").",
                    "Set the property, or give it a default: \"${quotes.rate:10/s}\".",
                    cause);
        }
        return rate == null ? "" : rate;
    }

    private static Duration duration(String attribute, String text, String examples) {
        try {
            return DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    attribute + " must be a duration (was \"" + text + "\").", "Write it like " + examples + ".", ex);
        }
    }

    private static @Nullable FallbackMethod fallback(
            Method method, Class<?> targetClass, List<LimitAnnotation> annotations) {
        List<String> names = annotations.stream()
                .map(annotation -> annotation.annotation().fallbackMethod())
                .filter(StringUtils::hasText)
                .distinct()
                .toList();
        if (names.size() > 1) {
            throw new RateLimitConfigurationException(
                    "fallbackMethod must be the same in all annotations of a method (was " + String.join(", ", names)
                            + ").",
                    "Name one method in all of them.");
        }
        return names.isEmpty() ? null : FallbackMethod.find(names.get(0), method, targetClass);
    }
}
