package io.ratelimit.autoconfigure.properties;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Keeps variables that are not meant for the starter from being read as properties. Placeholders still find them. Kubernetes sets
 * variables for a service such as {@code ratelimit-redis} in each pod of its namespace. Others, such as {@code RATELIMIT_REDIS},
 * are no properties, because only properties below them have values.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables">Environment variables of
 *     services</a>
 */
final class ServiceVariables implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {

    /** The property source that keeps them. Its variables are found by their names alone. */
    static final String SOURCE = "rateLimitServiceVariables";

    /** A variable that tells a service from properties, if it is a URL. One of the two may be the pod's own. */
    private static final Pattern PORT = Pattern.compile("(RATELIMIT\\w*?)_PORT(_\\d+_(TCP|UDP|SCTP))?");

    private static final Pattern URL = Pattern.compile("(tcp|udp|sctp)://.+");

    private static final Pattern OF_SERVICE =
            Pattern.compile("_SERVICE_HOST|_SERVICE_PORT(_\\w+)?|_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

    /** Before Spring Boot reads configuration files, which may have placeholders. */
    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
        MutablePropertySources sources = event.getEnvironment().getPropertySources();
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        if (sources.get(name) instanceof MapPropertySource environment) {
            Map<String, Object> ignored = find(environment.getSource());
            if (!ignored.isEmpty()) {
                Map<String, Object> others = new HashMap<>(environment.getSource());
                others.keySet().removeAll(ignored.keySet());
                sources.replace(name, new SystemEnvironmentPropertySource(name, others));
                sources.addAfter(name, new Variables(ignored));
            }
        }
    }

    private static Map<String, Object> find(Map<String, Object> environment) {
        List<String> services = environment.entrySet().stream()
                .filter(variable -> isUrl(variable.getValue()))
                .map(variable -> PORT.matcher(variable.getKey()))
                .filter(Matcher::matches)
                .map(port -> port.group(1))
                .toList();
        Map<String, Object> found = new HashMap<>(environment);
        found.keySet().removeIf(name -> !name.startsWith("RATELIMIT"));
        found.entrySet()
                .removeIf(variable -> !isParent(variable.getKey())
                        && services.stream()
                                .noneMatch(service -> isOf(service, variable.getKey(), variable.getValue())));
        return found;
    }

    /** Not of a single limit, such as {@code RATELIMIT_LIMITS_QUOTES}, and not of what can be enabled, such as TLS: that is a mistake. */
    static boolean isParent(String variable) {
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(variable.toLowerCase(Locale.ROOT), '_');
        PropertySchema property = PropertySchema.nearest(name);
        return property.name().equals(name)
                && property.isParent()
                && (property.equals(PropertySchema.ROOT) || !property.children().contains("enabled"))
                && !PropertySchema.nearest(name.getParent()).isMap();
    }

    private static boolean isOf(String service, String variable, Object value) {
        String end = variable.startsWith(service) ? variable.substring(service.length()) : "";
        return end.equals("_PORT") ? isUrl(value) : OF_SERVICE.matcher(end).matches();
    }

    private static boolean isUrl(Object value) {
        return URL.matcher(String.valueOf(value)).matches();
    }

    /** Not enumerable, so that Spring Boot does not read the names as those of properties. */
    static final class Variables extends PropertySource<Map<String, Object>> {

        private Variables(Map<String, Object> variables) {
            super(SOURCE, variables);
        }

        Set<String> names() {
            return new TreeSet<>(getSource().keySet());
        }

        @Override
        public @Nullable Object getProperty(String name) {
            return getSource().get(name);
        }
    }
}
