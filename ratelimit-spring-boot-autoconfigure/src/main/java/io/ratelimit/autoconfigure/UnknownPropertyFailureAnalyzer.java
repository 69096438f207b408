package io.ratelimit.autoconfigure;

import io.ratelimit.internal.limit.LimitNames;
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

/** Reports unknown properties, and suggests the nearest existing ones. Precedes Spring Boot's own analyzer. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class UnknownPropertyFailureAnalyzer extends AbstractFailureAnalyzer<UnboundConfigurationPropertiesException> {

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable rootFailure, UnboundConfigurationPropertiesException mistake) {
        List<ConfigurationProperty> unknown = mistake.getUnboundProperties().stream()
                .filter(property -> PropertySchema.ROOT.name().isAncestorOf(property.getName()))
                .toList();
        if (unknown.isEmpty()) {
            return null;
        }
        String description = unknown.stream()
                .map(property -> "There is no %s %s (%s)"
                        .formatted(
                                exists(property.getName()) ? "element before" : "property",
                                property.getName(),
                                property.getOrigin()))
                .collect(Collectors.joining(System.lineSeparator()));
        String action = unknown.stream()
                .map(property -> suggestion(property.getName()))
                .distinct()
                .collect(Collectors.joining(System.lineSeparator()));
        return new FailureAnalysis(description, action, mistake);
    }

    /** Whether the property exists. If it is unbound nevertheless, it is a list element that follows a missing one. */
    private static boolean exists(ConfigurationPropertyName name) {
        return PropertySchema.nearest(name).name().equals(name);
    }

    private static String suggestion(ConfigurationPropertyName name) {
        if (exists(name)) {
            return "Number the elements of the list from 0, without gaps.";
        }
        PropertySchema parent = PropertySchema.nearest(name);
        String unknown = name.getElement(parent.name().getNumberOfElements(), Form.DASHED);
        return LimitNames.nearest(unknown, parent.children())
                        .map(nearest -> "Did you mean " + parent.name() + "." + nearest + "? ")
                        .orElseGet(() -> parent.isServer() ? RedisServerProperties.suggestion(parent.name()) : "")
                + properties(parent);
    }

    /** Describes the properties below a property. */
    static String properties(PropertySchema parent) {
        ConfigurationPropertyName name = parent.name();
        if (parent.isList()) {
            return name + " is a list: in YAML, write a dash before each of its elements.";
        }
        if (parent.isMap()) {
            return "Under " + name + " there are the names of limits, each with properties such as rate.";
        }
        if (parent.children().isEmpty()) {
            return name + " takes a single value.";
        }
        String properties = "Under " + name + " there are: " + String.join(", ", parent.children())
                + (parent.hasServers() ? ", and the names of further servers, each with properties such as url." : ".");
        return name.isLastElementIndexed()
                        && PropertySchema.nearest(name.getParent()).isMap()
                ? name.getParent() + " is not a list: in YAML, write the names of limits without dashes. " + properties
                : properties;
    }
}
