package io.ratelimit.autoconfigure.properties;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Finds environment variables for limits that no property is read from; placeholders may read them. */
final class UnusedVariables implements BindHandler {

    /** Not elements of lists, because another source's list may precede them. */
    private static final Pattern OF_LIMITS = Pattern.compile("(?i)RATELIMIT_(LIMITS|DEFAULTS)_.*[^\\d_]");

    private final List<ConfigurationPropertySource> sources = new ArrayList<>();

    private final Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    UnusedVariables(Environment environment) {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource variables) {
                sources.add(source);
                Arrays.stream(variables.getPropertyNames())
                        .filter(name -> OF_LIMITS.matcher(name).matches())
                        .forEach(names::add);
            }
        }
    }

    /** Also counts a variable as used that another source of the property precedes. */
    @Override
    public <T> Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target, BindContext context) {
        sources.stream()
                .map(source -> source.getConfigurationProperty(name))
                .filter(Objects::nonNull)
                .map(ConfigurationProperty::getOrigin)
                .filter(PropertySourceOrigin.class::isInstance)
                .forEach(origin -> names.remove(((PropertySourceOrigin) origin).getPropertyName()));
        return target;
    }

    /** Returns those that are left when all properties are bound. */
    Set<String> names() {
        return names;
    }
}
