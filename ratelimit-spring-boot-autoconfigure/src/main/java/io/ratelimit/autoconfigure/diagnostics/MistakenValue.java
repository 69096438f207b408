package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.core.convert.ConversionFailedException;

/** Describes a value that cannot be converted to the type of its property: the rule for such values, and how to write one. */
public final class MistakenValue {

    private MistakenValue() {}

    /** Returns the mistake as its user sees it, or the exception itself if no value is to blame. */
    public static RuntimeException describe(BindException failure) {
        ConfigurationProperty property = failure.getProperty();
        Class<?> type = type(failure);
        if (property == null || type == null) {
            return failure;
        }
        String value = String.valueOf(property.getValue());
        if (type.isEnum()) {
            List<String> known =
                    Arrays.stream(type.getEnumConstants()).map(Object::toString).toList();
            return mistake(
                    property,
                    "%s must be a known value (was \"%s\").",
                    LimitNames.didYouMean(value, known, nearest -> nearest) + "Known values: "
                            + String.join(", ", known) + ".");
        }
        if (type == Duration.class) {
            return mistake(
                    property, "%s must be a duration (was \"%s\").", "Write it like \"500ms\", \"2s\" or \"PT2S\".");
        }
        if (type == ZoneId.class) {
            return mistake(
                    property,
                    "%s must be a time zone (was \"%s\").",
                    LimitNames.didYouMean(value, ZoneId.getAvailableZoneIds(), nearest -> nearest)
                            + "Write it like \"Europe/Berlin\", \"UTC\" or \"+02:00\".");
        }
        if (type == Class.class) {
            return mistake(
                    property,
                    "%s must name classes on the class path (was \"%s\").",
                    "Name exceptions of the method in full, such as java.io.IOException.");
        }
        if (type == Boolean.class) {
            return mistake(property, "%s must be true or false (was \"%s\").", "Write true or false.");
        }
        return Number.class.isAssignableFrom(type)
                ? mistake(
                        property,
                        "%s must be a whole number within the range of " + type.getSimpleName() + " (was \"%s\").",
                        "Write it in digits.")
                : failure;
    }

    private static RateLimitConfigurationException mistake(ConfigurationProperty property, String problem, String fix) {
        return new RateLimitConfigurationException(problem.formatted(property.getName(), property.getValue()), fix);
    }

    /** Returns the type that the innermost conversion was to, which is that of an element of a list. */
    private static @Nullable Class<?> type(BindException failure) {
        Class<?> type = null;
        for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof ConversionFailedException conversion) {
                type = conversion.getTargetType().getObjectType();
            }
        }
        return type;
    }
}
