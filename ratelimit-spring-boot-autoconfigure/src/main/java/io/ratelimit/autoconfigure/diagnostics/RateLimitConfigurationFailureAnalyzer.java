package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.RateLimitConfigurationException;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Reports an invalid configuration by place, origin, problem and fix. Precedes the analyzers of the exceptions that Spring
 * wraps it in.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RateLimitConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<RateLimitConfigurationException> {

    private static final Pattern PROPERTY = Pattern.compile("^ratelimit\\.[A-Za-z0-9_.\\[\\]-]+");

    private final Environment environment;

    RateLimitConfigurationFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RateLimitConfigurationException mistake) {
        StringBuilder description =
                new StringBuilder("The configuration of the rate limits is invalid.%n%n".formatted());
        if (mistake.getPlace() != null) {
            description.append("Where: %s%n".formatted(mistake.getPlace()));
        }
        origin(mistake.getProblem()).ifPresent(origin -> description.append("Origin: %s%n".formatted(origin)));
        description.append("What: ").append(mistake.getProblem());
        return new FailureAnalysis(description.toString(), mistake.getFix(), rootFailure);
    }

    /** Finds the origin of the property that the message begins with, or of the first one below it, or beside it. */
    private Optional<Origin> origin(String message) {
        Matcher matcher = PROPERTY.matcher(message);
        if (!matcher.find()) {
            return Optional.empty();
        }
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(matcher.group(), '.');
        return first(name)
                .or(() -> name.getParent().isLastElementIndexed() ? first(name.getParent()) : Optional.empty());
    }

    private Optional<Origin> first(ConfigurationPropertyName name) {
        ConfiguredProperties properties = new ConfiguredProperties(environment);
        return Stream.concat(Stream.of(name), properties.below(name))
                .flatMap(each -> properties.find(each).stream())
                .map(ConfigurationProperty::getOrigin)
                .filter(Objects::nonNull)
                .findFirst();
    }
}
