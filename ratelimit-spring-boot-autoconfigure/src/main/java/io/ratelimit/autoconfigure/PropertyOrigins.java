package io.ratelimit.autoconfigure;

import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.Environment;

/** Finds the line of the configuration that a message speaks of. */
final class PropertyOrigins {

    private static final Pattern PROPERTY = Pattern.compile("^ratelimit\\.[A-Za-z0-9_.\\[\\]-]+");

    private final Environment environment;

    PropertyOrigins(Environment environment) {
        this.environment = environment;
    }

    /** Where the property stands with which the message begins, else the first one below it, else one beside it. */
    Optional<Origin> of(String message) {
        Matcher matcher = PROPERTY.matcher(message);
        if (!matcher.find()) {
            return Optional.empty();
        }
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(matcher.group(), '.');
        return first(name)
                .or(() -> name.getParent().isLastElementIndexed() ? first(name.getParent()) : Optional.empty());
    }

    private Optional<Origin> first(ConfigurationPropertyName name) {
        return StreamSupport.stream(
                        ConfigurationPropertySources.get(environment).spliterator(), false)
                .flatMap(source -> properties(source, name))
                .map(ConfigurationProperty::getOrigin)
                .filter(Objects::nonNull)
                .findFirst();
    }

    private static Stream<ConfigurationProperty> properties(
            ConfigurationPropertySource source, ConfigurationPropertyName name) {
        Stream<ConfigurationPropertyName> below = source instanceof IterableConfigurationPropertySource iterable
                ? iterable.stream().filter(name::isAncestorOf)
                : Stream.empty();
        return Stream.concat(Stream.of(name), below)
                .map(source::getConfigurationProperty)
                .filter(Objects::nonNull);
    }
}
