package io.ratelimit.autoconfigure;

import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.View;

/** Tells whether Spring Boot's error controller would render a view of the application instead of its default page. */
final class ServletErrorViewSearch implements BiPredicate<HttpServletRequest, HttpStatusCode> {

    private static final List<Class<?>> CONTROLLERS = ErrorViews.types(
            "org.springframework.boot.webmvc.error.ErrorController",
            "org.springframework.boot.web.servlet.error.ErrorController");

    private static final List<Class<?>> RESOLVERS = ErrorViews.types(
            "org.springframework.boot.webmvc.autoconfigure.error.ErrorViewResolver",
            "org.springframework.boot.autoconfigure.web.servlet.error.ErrorViewResolver");

    private static final String VIEW = "error";

    private final ApplicationContext context;

    private final ErrorViews views;

    /** Whether the application has a view for every status. */
    private final SingletonSupplier<Boolean> viewForAll;

    private final SingletonSupplier<List<Object>> resolvers;

    ServletErrorViewSearch(ApplicationContext context) {
        this.context = context;
        this.views = new ErrorViews(context);
        this.viewForAll = SingletonSupplier.of(() -> views.isTemplate(VIEW) || isViewOfApplication());
        this.resolvers = SingletonSupplier.of(() -> RESOLVERS.stream()
                .<Object>flatMap(type -> context.getBeanProvider(type).orderedStream())
                .filter(ServletErrorViewSearch::isOfApplication)
                .toList());
    }

    @Override
    public boolean test(HttpServletRequest request, HttpStatusCode status) {
        return ErrorViews.isBean(context, CONTROLLERS)
                && (views.existsFor(status)
                        || viewForAll.obtain()
                        || resolvers.obtain().stream().anyMatch(resolver -> resolves(resolver, request, status)));
    }

    private boolean isViewOfApplication() {
        return context.containsBean(VIEW)
                && context.isTypeMatch(VIEW, View.class)
                && isOfApplication(context.getBean(VIEW));
    }

    private static boolean isOfApplication(Object bean) {
        return !bean.getClass().getName().startsWith("org.springframework.boot.");
    }

    private static boolean resolves(Object resolver, HttpServletRequest request, HttpStatusCode status) {
        HttpStatus known = HttpStatus.resolve(status.value());
        if (known == null) {
            return false;
        }
        Method method = ClassUtils.getMethod(
                RESOLVERS.get(0), "resolveErrorView", HttpServletRequest.class, HttpStatus.class, Map.class);
        Map<String, Object> model = Map.of("status", known.value(), "error", known.getReasonPhrase());
        try {
            return ReflectionUtils.invokeMethod(method, resolver, request, known, model) != null;
        } catch (RuntimeException ex) {
            // The resolver may need attributes that a request has only during its error dispatch.
            return false;
        }
    }
}
