package io.ratelimit.autoconfigure;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Keeps the variables that Kubernetes sets for a service such as {@code ratelimit-redis} from being read as properties: each pod of
 * its namespace has them. Placeholders still find them.
 *
 * @see <a href="https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables">Environment variables of
 *     services</a>
 */
final class ServiceVariables implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {

    /** The property source that keeps them. Its variables are found by their names alone. */
    static final String SOURCE = "rateLimitServiceVariables";

    private static final String PORT = "_PORT";

    /** What tells the port of a service from a property. */
    private static final Pattern URL = Pattern.compile("(tcp|udp|sctp)://.+");

    private static final Pattern OF_SERVICE =
            Pattern.compile("_SERVICE_HOST|_SERVICE_PORT(_\\w+)?|_PORT|_PORT_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?");

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
                .filter(variable -> variable.getKey().startsWith("RATELIMIT")
                        && variable.getKey().endsWith(PORT)
                        && URL.matcher(String.valueOf(variable.getValue())).matches())
                .map(variable ->
                        variable.getKey().substring(0, variable.getKey().length() - PORT.length()))
                .toList();
        Map<String, Object> found = new HashMap<>();
        environment.forEach((name, value) -> {
            if (services.stream().anyMatch(service -> isOf(service, name))) {
                found.put(name, value);
            }
        });
        return found;
    }

    private static boolean isOf(String service, String variable) {
        return variable.startsWith(service)
                && OF_SERVICE.matcher(variable.substring(service.length())).matches();
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
