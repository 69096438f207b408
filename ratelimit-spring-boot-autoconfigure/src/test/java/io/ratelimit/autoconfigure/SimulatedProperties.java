package io.ratelimit.autoconfigure;

import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import io.ratelimit.internal.limiter.RateLimitSettings;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Binds properties as an application does: those of a file, and those of the environment, which win. */
public final class SimulatedProperties {

    private SimulatedProperties() {}

    public static RateLimitSettings settings(Map<String, Object> file, Map<String, Object> environment) {
        MutablePropertySources sources = new MutablePropertySources();
        sources.addLast(new SystemEnvironmentPropertySource(
                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, environment));
        sources.addLast(new MapPropertySource("file", file));
        return new Binder(ConfigurationPropertySources.from(sources))
                .bindOrCreate("ratelimit", RateLimitProperties.class)
                .settings();
    }
}
