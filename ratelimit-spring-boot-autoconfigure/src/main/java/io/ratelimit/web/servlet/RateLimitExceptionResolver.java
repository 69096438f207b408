package io.ratelimit.web.servlet;

import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.RateLimitExceptions;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatusCode;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.ErrorResponse;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Answers rejections before any advice of the application is asked, whatever its precedence: one for every exception would
 * take them. Leaves them to a handler of the controller and to advice that names them.
 */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {

    private final Supplier<@Nullable HandlerExceptionResolver> springs;

    /** Spring asks the handlers of a controller first, so our advice is passed as if it were one. */
    private final HandlerMethod advice;

    private final RateLimitExceptionAdvice ours;

    private final SingletonSupplier<List<ControllerAdviceBean>> users;

    private final ServletErrorViews errorViews;

    private final WebSettings settings;

    private final Map<Class<?>, ExceptionHandlerMethodResolver> controllers = new ConcurrentHashMap<>();

    /** @param springs that of the application's handlers; {@code null}: there is none */
    public RateLimitExceptionResolver(
            Supplier<@Nullable HandlerExceptionResolver> springs,
            RateLimitExceptionAdvice ours,
            ServletErrorViews errorViews,
            WebSettings settings,
            ApplicationContext context) {
        this.springs = springs;
        this.ours = ours;
        this.advice = ours.asController();
        this.users = SingletonSupplier.of(new ApplicationAdvice(context)::handlers);
        this.errorViews = errorViews;
        this.settings = settings;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        RuntimeException rejection = RateLimitExceptions.find(failure);
        HandlerExceptionResolver resolver = rejection == null ? null : springs.get();
        if (rejection == null || resolver == null) {
            return null;
        }
        Class<?> controller = handler instanceof HandlerMethod method ? method.getBeanType() : null;
        if (isUsers(controller, failure, rejection)) {
            return null;
        }
        return showErrorView(request, response, rejection)
                ? new ModelAndView()
                : resolver.resolveException(request, response, advice, failure);
    }

    private boolean showErrorView(
            HttpServletRequest request, HttpServletResponse response, RuntimeException rejection) {
        HttpStatusCode status = settings.status(rejection);
        if (status == null || !errorViews.areFor(request, status)) {
            return false;
        }
        ErrorResponse problem = ours.answer(rejection, request, response, RequestContextUtils.getLocale(request));
        if (problem != null) {
            ServletHeaderRecord.of(request).write(settings.headers(), response);
            errorViews.send(problem, response);
        }
        return true;
    }

    private boolean isUsers(@Nullable Class<?> controller, Exception failure, RuntimeException rejection) {
        if (controller != null && handlers(controller).resolveMethodByThrowable(failure) != null) {
            return true;
        }
        for (ControllerAdviceBean bean : users.obtain()) {
            if (bean.isApplicableToBeanType(controller) && ApplicationAdvice.handles(bean.getBeanType(), rejection)) {
                return true;
            }
        }
        return false;
    }

    private ExceptionHandlerMethodResolver handlers(Class<?> controller) {
        return controllers.computeIfAbsent(controller, ExceptionHandlerMethodResolver::new);
    }
}
