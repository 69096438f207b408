package io.ratelimit.autoconfigure;

import java.util.stream.Stream;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.core.env.Environment;

/** Tells whether the configuration sets a property, whatever its value. */
final class SetProperties {

    private final Environment environment;

    SetProperties(Environment environment) {
        this.environment = environment;
    }

    /** Returns whether one of the properties is set, or a property below one of them. */
    boolean containAny(String... names) {
        return Stream.of(names).map(ConfigurationPropertyName::of).anyMatch(this::contain);
    }

    private boolean contain(ConfigurationPropertyName name) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getConfigurationProperty(name) != null
                    || source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
                return true;
            }
        }
        return false;
    }
}
