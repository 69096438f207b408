package io.ratelimit.autoconfigure.diagnostics;

import io.ratelimit.LimitConfiguration;
import io.ratelimit.RateLimitStatus;
import io.ratelimit.RateLimitStatus.Source;
import io.ratelimit.internal.change.LimitAdmin;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.Environment;

/** Finds where a property is set, such as the line of a file. */
public record PropertyOrigins(Environment environment) implements LimitAdmin.Origins {

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
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            ConfigurationProperty found = source.getConfigurationProperty(name);
            if (found != null) {
                String place = found.getOrigin() == null ? "" : " (" + found.getOrigin() + ")";
                return new RateLimitStatus.Origin(Source.CONFIGURATION, property + place);
            }
        }
        return null;
    }
}
