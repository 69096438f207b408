package io.ratelimit.autoconfigure;

import io.ratelimit.LimitNames;
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
                .map(property -> "There is no property %s (%s)".formatted(property.getName(), property.getOrigin()))
                .collect(Collectors.joining(System.lineSeparator()));
        String action = unknown.stream()
                .map(property -> suggestion(property.getName()))
                .distinct()
                .collect(Collectors.joining(System.lineSeparator()));
        return new FailureAnalysis(description, action, mistake);
    }

    private static String suggestion(ConfigurationPropertyName name) {
        PropertySchema parent = PropertySchema.nearest(name);
        String unknown = name.getElement(parent.name().getNumberOfElements(), Form.DASHED);
        List<String> candidates = parent.children();
        return LimitNames.nearest(unknown, candidates)
                        .map(nearest -> "Did you mean " + parent.name() + "." + nearest + "? ")
                        .orElse("")
                + "Under " + parent.name() + " there are: " + String.join(", ", candidates) + ".";
    }
}
