package io.ratelimit.benchmarks.race;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.AutoConfigurationImportFilter;
import org.springframework.boot.autoconfigure.AutoConfigurationMetadata;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;

/**
 * Leaves each application with Spring Boot's auto-configuration and that of its one rate limiter, as if the others were
 * not on the class path.
 */
class OwnAutoConfigurations implements AutoConfigurationImportFilter, EnvironmentAware {

    private String limiter = "";

    @Override
    public void setEnvironment(Environment environment) {
        limiter = environment.getRequiredProperty(Applications.LIMITER);
    }

    @Override
    public boolean[] match(@Nullable String[] classes, AutoConfigurationMetadata metadata) {
        boolean[] matches = new boolean[classes.length];
        for (int i = 0; i < classes.length; i++) {
            String name = classes[i];
            matches[i] = name != null && (name.startsWith("org.springframework.boot.") || name.startsWith(limiter));
        }
        return matches;
    }
}
