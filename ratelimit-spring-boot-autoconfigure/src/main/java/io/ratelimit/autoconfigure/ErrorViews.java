package io.ratelimit.autoconfigure;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.template.TemplateAvailabilityProviders;
import org.springframework.boot.autoconfigure.web.WebProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatusCode;
import org.springframework.util.ClassUtils;

/** Finds error views where Spring Boot's error handling does: templates of any engine, and static files. */
final class ErrorViews {

    private final ApplicationContext context;

    private final TemplateAvailabilityProviders templates;

    private final String[] locations;

    private final Map<Integer, Boolean> statuses = new ConcurrentHashMap<>();

    ErrorViews(ApplicationContext context) {
        this.context = context;
        this.templates = new TemplateAvailabilityProviders(context);
        this.locations = context.getBeanProvider(WebProperties.class)
                .getIfAvailable(WebProperties::new)
                .getResources()
                .getStaticLocations();
    }

    /** Whether there is a view for the status, or for its series such as {@code 4xx}. */
    boolean existsFor(HttpStatusCode status) {
        return statuses.computeIfAbsent(
                status.value(), code -> exists("error/" + code) || exists("error/" + code / 100 + "xx"));
    }

    boolean exists(String view) {
        return isTemplate(view) || Stream.of(locations).anyMatch(location -> isFile(location, view + ".html"));
    }

    boolean isTemplate(String view) {
        return templates.getProvider(view, context) != null;
    }

    private boolean isFile(String location, String name) {
        try {
            return context.getResource(location).createRelative(name).exists();
        } catch (IOException ex) {
            return false;
        }
    }

    /** Loads those types that are present, for a type whose package differs in Spring Boot 3 and 4. */
    static List<Class<?>> types(String... names) {
        ClassLoader loader = ErrorViews.class.getClassLoader();
        return Stream.of(names)
                .filter(name -> ClassUtils.isPresent(name, loader))
                .<Class<?>>map(name -> ClassUtils.resolveClassName(name, loader))
                .toList();
    }

    /** Whether there is a bean of one of the types. Does not create it. */
    static boolean isBean(ApplicationContext context, List<Class<?>> types) {
        return types.stream().anyMatch(type -> context.getBeanNamesForType(type, true, false).length > 0);
    }
}
