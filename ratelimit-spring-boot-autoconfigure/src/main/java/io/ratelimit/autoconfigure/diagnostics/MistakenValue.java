package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.RateLimitConfigurationException;
import io.ratelimit.internal.limit.LimitNames;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.boot.origin.SystemEnvironmentOrigin;
import org.springframework.core.convert.ConversionFailedException;

/** Describes a value that cannot be converted to the type of its property: the rule for such values, and how to write one. */
public final class MistakenValue {

    private MistakenValue() {}

    /** Returns the mistake as its user sees it, or the exception itself if no value is to blame. */
    public static RuntimeException describe(BindException failure) {
        ConfigurationProperty property = failure.getProperty();
        Class<?> type = type(failure);
        Expected expected =
                property == null || type == null ? null : expected(type, String.valueOf(property.getValue()));
        return expected == null || property == null
                ? failure
                : new RateLimitConfigurationException(
                        property.getName() + " must " + expected.rule + " (was \"" + property.getValue() + "\""
                                + variable(property) + ").",
                        expected.fix);
    }

    /** Returns the mistake of a number with a fraction, which Spring Boot would cut off. */
    public static RateLimitConfigurationException fraction(
            ConfigurationPropertyName name, Class<?> type, Double value) {
        Expected whole = Objects.requireNonNull(expected(type, ""));
        return new RateLimitConfigurationException(
                name + " must " + whole.rule + " (was \"" + value + "\").", whole.fix);
    }

    /** A variable can be set by others, so its name is in no file of the application. */
    private static String variable(ConfigurationProperty property) {
        return property.getOrigin() instanceof PropertySourceOrigin place
                        && place.getOrigin() instanceof SystemEnvironmentOrigin variable
                ? " in the environment variable " + variable.getProperty()
                : "";
    }

    private static @Nullable Expected expected(Class<?> type, String value) {
        if (type.isEnum()) {
            List<String> known =
                    Arrays.stream(type.getEnumConstants()).map(Object::toString).toList();
            return new Expected(
                    "be a known value", didYouMean(value, known) + "Known values: " + String.join(", ", known) + ".");
        }
        if (type == Duration.class) {
            return new Expected("be a duration", "Write it like \"500ms\", \"2s\" or \"PT2S\".");
        }
        if (type == ZoneId.class) {
            return new Expected(
                    "be a time zone",
                    didYouMean(value, ZoneId.getAvailableZoneIds())
                            + "Write it like \"Europe/Berlin\", \"UTC\" or \"+02:00\".");
        }
        if (type == Class.class) {
            return new Expected(
                    "name classes on the class path",
                    "Name exceptions of the method in full, such as java.io.IOException.");
        }
        if (type == Boolean.class) {
            return new Expected("be true or false", "Write true or false.");
        }
        return Number.class.isAssignableFrom(type)
                ? new Expected("be a whole number within the range of " + type.getSimpleName(), "Write it in digits.")
                : null;
    }

    private static String didYouMean(String value, Collection<String> known) {
        return LimitNames.didYouMean(value, known, nearest -> nearest);
    }

    private record Expected(String rule, String fix) {}

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
