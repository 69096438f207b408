package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitException;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.HtmlPreference;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.ServletServerHttpRequest;
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
 * handle them. Leaves them to a handler of the controller, and to advice that names rate limit exceptions. Otherwise a
 * browser gets the application's error page, and any other caller a problem.
 */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {

    private final Supplier<@Nullable HandlerExceptionResolver> handlerExceptionResolver;

    private final RateLimitExceptionAdvice advice;

    private final HandlerMethod adviceAsController;

    private final SingletonSupplier<List<ControllerAdviceBean>> applicationAdvice;

    private final WebSettings settings;

    private final Map<Class<?>, ExceptionHandlerMethodResolver> controllers = new ConcurrentHashMap<>();

    /** @param handlerExceptionResolver the resolver for the application's handlers; supplies {@code null} if there is none */
    public RateLimitExceptionResolver(
            Supplier<@Nullable HandlerExceptionResolver> handlerExceptionResolver,
            RateLimitExceptionAdvice advice,
            WebSettings settings,
            ApplicationContext context) {
        this.handlerExceptionResolver = handlerExceptionResolver;
        this.advice = advice;
        this.adviceAsController = advice.asController();
        this.applicationAdvice = SingletonSupplier.of(new ApplicationAdvice(context)::handlers);
        this.settings = settings;
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        RateLimitException rejection = settings.find(failure);
        HandlerExceptionResolver resolver = rejection == null ? null : handlerExceptionResolver.get();
        if (rejection == null || resolver == null) {
            return null;
        }
        ServletHeaderRecord.of(request).addIfAbsent(rejection, settings);
        Class<?> controller = handler instanceof HandlerMethod method ? method.getBeanType() : null;
        if (isHandledByApplication(controller, failure, rejection)) {
            return null;
        }
        return prefersErrorPage(request)
                ? sendErrorPage(request, response, rejection)
                : resolver.resolveException(request, response, adviceAsController, failure);
    }

    /** An error page that is rejected itself has no other one. */
    private static boolean prefersErrorPage(HttpServletRequest request) {
        return request.getDispatcherType() != DispatcherType.ERROR
                && HtmlPreference.in(new ServletServerHttpRequest(request).getHeaders());
    }

    /** Leaves the body to the container's error page: Spring Boot renders it, as for other errors. */
    private ModelAndView sendErrorPage(
            HttpServletRequest request, HttpServletResponse response, RuntimeException rejection) {
        ErrorResponse problem = advice.answer(rejection, request, response, RequestContextUtils.getLocale(request));
        if (problem != null) {
            ServletHeaderRecord.of(request).sendToErrorPage(rejection);
            String retryAfter = problem.getHeaders().getFirst(HttpHeaders.RETRY_AFTER);
            if (retryAfter != null) {
                response.setHeader(HttpHeaders.RETRY_AFTER, retryAfter);
            }
            try {
                response.sendError(
                        problem.getStatusCode().value(), problem.getBody().getDetail());
            } catch (IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return new ModelAndView();
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
