package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.internal.change.LimitAdmin;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;

/** Finds which properties are set, and where, such as in a line of a file. */
public record ConfiguredProperties(Environment environment) implements LimitAdmin.Origins {

    /** Returns the property and its place; {@code null} if it is not set: some defaults of all limits always have a value. */
    @Override
    public RateLimitStatus.@Nullable Origin of(String property) {
        RateLimitStatus.Origin found = find(property);
        if (found == null && property.startsWith(LimitConfiguration.DEFAULTS + ".")) {
            return find("ratelimit" + property.substring(LimitConfiguration.DEFAULTS.length()));
        }
        return found == null ? new RateLimitStatus.Origin(Source.CONFIGURATION, property) : found;
    }

    private RateLimitStatus.@Nullable Origin find(String property) {
        return find(ConfigurationPropertyName.adapt(property, '.'))
                .map(found -> found.getOrigin() == null ? "" : " (" + found.getOrigin() + ")")
                .map(place -> new RateLimitStatus.Origin(Source.CONFIGURATION, property + place))
                .orElse(null);
    }

    /** Returns the property as its first source has it. */
    Optional<ConfigurationProperty> find(ConfigurationPropertyName name) {
        return sources()
                .map(source -> source.getConfigurationProperty(name))
                .filter(Objects::nonNull)
                .findFirst();
    }

    /** Returns the names of the properties below a property, as far as their sources tell names. */
    public Stream<ConfigurationPropertyName> below(ConfigurationPropertyName parent) {
        return sources()
                .flatMap(source -> source instanceof IterableConfigurationPropertySource iterable
                        ? iterable.stream()
                        : Stream.empty())
                .filter(parent::isAncestorOf)
                .distinct();
    }

    private Stream<ConfigurationPropertySource> sources() {
        return StreamSupport.stream(
                ConfigurationPropertySources.get(environment).spliterator(), false);
    }
}
