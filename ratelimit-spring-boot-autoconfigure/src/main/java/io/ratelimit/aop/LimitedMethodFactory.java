package io.ratelimit.aop;

import io.ratelimit.LimitAlgorithm;
import io.ratelimit.LimitAttributes;
import io.ratelimit.LimitConfiguration;
import io.ratelimit.LimitDefinition;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.aop.RateLimitAnnotations.LimitAnnotation;
import io.ratelimit.expression.LimitOperations;
import io.ratelimit.expression.MethodSignatures;
import io.ratelimit.expression.RateLimitOperation;
import io.ratelimit.internal.limit.AttributeValues;
import io.ratelimit.internal.limiter.JointLimits;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ObjectUtils;
import org.springframework.util.StringUtils;

/**
 * Creates limited methods from annotations and the configuration.
 *
 * @param beforeSecurity whether a rejected call has not been authorized by Spring Security's method security
 */
public record LimitedMethodFactory(
        LimitOperations operations,
        ConfigurableListableBeanFactory beans,
        ReturnTypeStrategySelector strategies,
        boolean beforeSecurity) {

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
            checkRefunds(method, targetClass, all);
            checkHolds(method, targetClass, all);
            JointLimits.check(
                    operations.catalog(),
                    all.stream().map(RateLimitOperation::effective).toList(),
                    MethodSignatures.describe(method));
            return new LimitedMethod(
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

    private static void checkRefunds(Method method, Class<?> targetClass, List<RateLimitOperation> operations) {
        String unobserved = LateResults.isPlainFuture(method.getReturnType())
                ? " of a " + method.getReturnType().getName() + " cannot be observed"
                : null;
        String noResult = LateResults.isHandedOver(method, targetClass)
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

    private void checkHolds(Method method, Class<?> targetClass, List<RateLimitOperation> limited) {
        Class<?> answer = LateResults.answer(method);
        Class<?> unobserved = answer == null ? LateResults.unobserved(method, targetClass) : answer;
        if (unobserved != null) {
            String call = (answer == null ? "returns " : "takes ") + unobserved.getName();
            for (RateLimitOperation operation : limited) {
                operation.effective().addCheck(operations.catalog(), candidate -> checkHolds(call, candidate));
            }
        }
    }

    private static void checkHolds(String unobserved, RateLimit limit) {
        if (!limit.hasRate()) {
            throw new RateLimitConfigurationException(
                    "the algorithm of the limit '" + limit.name()
                            + "' must not be CONCURRENCY here, because the end of a call that " + unobserved
                            + " cannot be observed.",
                    "Limit the requests by a URL rule (ratelimit.http), return a CompletableFuture, close an entry of"
                            + " RateLimiter.enter at the end, or use an algorithm with a rate.");
        }
    }

    private RateLimitOperation annotated(Method method, Class<?> targetClass, LimitAnnotation declared) {
        RateLimited annotation = declared.annotation();
        boolean named = StringUtils.hasText(annotation.name());
        String name = named ? annotation.name() : declared.defaultName();
        try {
            AttributeValues values = LimitAttributes.read(null, attribute -> value(annotation, attribute));
            RateLimit limit = operations.catalog().settings().apply(new LimitDefinition(name, values).declaration());
            return operations.of(
                    LimitConfiguration.of(name).with(values),
                    () -> operations.catalog().declare(limit, declared.place(), named),
                    operations.expressions().scope(method, targetClass));
        } catch (RateLimitConfigurationException ex) {
            String place = MethodSignatures.describe(method);
            throw ex.at(
                    place.equals(declared.place()) ? place : place + ", with the annotation of " + declared.place());
        }
    }

    /** Returns what the annotation sets of an attribute. The default value of the annotation counts as not set. */
    private @Nullable Object value(RateLimited annotation, String attribute) {
        Object value = AnnotationUtils.getValue(annotation, attribute);
        if ("".equals(value)
                || ObjectUtils.nullSafeEquals(value, AnnotationUtils.getDefaultValue(annotation, attribute))) {
            return null;
        }
        return switch (attribute) {
            case "algorithm" -> LimitAlgorithm.of(annotation.algorithm());
            case "rate" -> rate(annotation.rate());
            case "maxWait" -> duration(attribute, annotation.maxWait(), "\"500ms\", \"2s\" or \"PT2S\"");
            case "blockFor" ->
                annotation.blockFor().isBlank()
                        ? null
                        : Arrays.stream(annotation.blockFor().split(",", -1))
                                .map(text -> duration(attribute, text.strip(), "\"1m\", or \"1m, 10m, 1h\""))
                                .toList();
            case "refundOn" -> List.of(annotation.refundOn());
            default -> value;
        };
    }

    private @Nullable String rate(String declared) {
        String rate = declared;
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
        return StringUtils.hasLength(rate) ? rate : null;
    }

    private static Duration duration(String attribute, String text, String examples) {
        try {
            return DurationFormatterUtils.detectAndParse(text);
        } catch (IllegalArgumentException ex) {
            throw new RateLimitConfigurationException(
                    attribute + " must be a duration (was \"" + text + "\").", "Write it like " + examples + ".", ex);
        }
    }

    private @Nullable FallbackMethod fallback(Method method, Class<?> targetClass, List<LimitAnnotation> annotations) {
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
        if (names.isEmpty()) {
            return null;
        }
        FallbackMethod fallback = FallbackMethod.find(names.get(0), method, targetClass);
        if (beforeSecurity) {
            fallback.checkNotSecured(method, targetClass);
        }
        return fallback;
    }
}
