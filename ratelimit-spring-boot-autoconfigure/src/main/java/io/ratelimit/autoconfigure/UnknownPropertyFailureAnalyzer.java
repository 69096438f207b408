package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Names the property that was probably meant by one that does not exist. Comes before Spring Boot's own analyzer. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("ratelimit");

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, UnboundConfigurationPropertiesException mistake) {
        List<ConfigurationProperty> unknown = mistake.getUnboundProperties().stream()
                .filter(property -> PREFIX.isAncestorOf(property.getName()))
                .toList();
        if (unknown.isEmpty()) {
            return null;
        }
        String description = unknown.stream()
                .map(property -> "There is no property %s (%s)".formatted(property.getName(), property.getOrigin()))
                .collect(Collectors.joining(System.lineSeparator()));
        String action = unknown.stream()
                .map(property -> suggestion(property.getName()))
                .distinct()
                .collect(Collectors.joining(System.lineSeparator()));
        return new FailureAnalysis(description, action, mistake);
    }

    private static String suggestion(ConfigurationPropertyName name) {
        return switch (name.getElement(1, Form.UNIFORM)) {
            case "limits" -> suggestion(name, 3, RateLimitProperties.Limit.class);
            case "redis" -> suggestion(name, 2, RateLimitProperties.Redis.class);
            case "inmemory" -> suggestion(name, 2, RateLimitProperties.InMemory.class);
            case "web" -> suggestion(name, 2, RateLimitProperties.Web.class);
            case "http" -> suggestion(name, 3, RateLimitProperties.Http.class);
            default -> suggestion(name, 1, RateLimitProperties.class);
        };
    }

    /** @param depth how many elements lead to the one that must be among the type's properties */
    private static String suggestion(ConfigurationPropertyName name, int depth, Class<?> type) {
        ConfigurationPropertyName parent = name.chop(depth);
        String unknown = name.getNumberOfElements() > depth ? name.getElement(depth, Form.DASHED) : "";
        List<String> candidates = properties(type);
        return LimitNames.nearest(unknown, candidates)
                        .map(nearest -> "Did you mean " + parent + "." + nearest + "? ")
                        .orElse("")
                + "Under " + parent + " there are: " + String.join(", ", candidates) + ".";
    }

    private static List<String> properties(Class<?> type) {
        return Arrays.stream(type.getRecordComponents())
                .map(RecordComponent::getName)
                .map(LimitNames::kebabCase)
                .toList();
    }
}
