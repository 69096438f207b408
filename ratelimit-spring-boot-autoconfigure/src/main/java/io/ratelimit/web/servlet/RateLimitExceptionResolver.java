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
 * Answers rejections before the application's advice, whatever its precedence, because advice for every exception would
 * handle them. Leaves them to a handler of the controller, and to advice that names rate limit exceptions.
 */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {

    private final Supplier<@Nullable HandlerExceptionResolver> handlerExceptionResolver;

    private final RateLimitExceptionAdvice advice;

    private final HandlerMethod adviceAsController;

    private final SingletonSupplier<List<ControllerAdviceBean>> applicationAdvice;

    private final ServletErrorViews errorViews;

    private final WebSettings settings;

    private final Map<Class<?>, ExceptionHandlerMethodResolver> controllers = new ConcurrentHashMap<>();

    /** @param handlerExceptionResolver the resolver for the application's handlers; supplies {@code null} if there is none */
    public RateLimitExceptionResolver(
            Supplier<@Nullable HandlerExceptionResolver> handlerExceptionResolver,
            RateLimitExceptionAdvice advice,
            ServletErrorViews errorViews,
            WebSettings settings,
            ApplicationContext context) {
        this.handlerExceptionResolver = handlerExceptionResolver;
        this.advice = advice;
        this.adviceAsController = advice.asController();
        this.applicationAdvice = SingletonSupplier.of(new ApplicationAdvice(context)::handlers);
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
        HandlerExceptionResolver resolver = rejection == null ? null : handlerExceptionResolver.get();
        if (rejection == null || resolver == null) {
            return null;
        }
        Class<?> controller = handler instanceof HandlerMethod method ? method.getBeanType() : null;
        if (isHandledByApplication(controller, failure, rejection)) {
            return null;
        }
        return showErrorView(request, response, rejection)
                ? new ModelAndView()
                : resolver.resolveException(request, response, adviceAsController, failure);
    }

    private boolean showErrorView(
            HttpServletRequest request, HttpServletResponse response, RuntimeException rejection) {
        HttpStatusCode status = settings.status(rejection);
        if (status == null || !errorViews.applyTo(request, status)) {
            return false;
        }
        ErrorResponse problem = advice.answer(rejection, request, response, RequestContextUtils.getLocale(request));
        if (problem != null) {
            ServletHeaderRecord.of(request).write(settings.headers(), response);
            errorViews.send(problem, response);
        }
        return true;
    }

    private boolean isHandledByApplication(
            @Nullable Class<?> controller, Exception failure, RuntimeException rejection) {
        if (controller != null && handlers(controller).resolveMethodByThrowable(failure) != null) {
            return true;
        }
        for (ControllerAdviceBean bean : applicationAdvice.obtain()) {
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
