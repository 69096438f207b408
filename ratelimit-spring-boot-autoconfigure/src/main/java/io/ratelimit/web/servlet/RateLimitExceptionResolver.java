package io.ratelimit.web.servlet;

import io.ratelimit.RateLimitException;
import io.ratelimit.web.ApplicationAdvice;
import io.ratelimit.web.HtmlPreference;
import io.ratelimit.web.ProblemResponses;
import io.ratelimit.web.WebSettings;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationContext;
import org.springframework.core.MethodParameter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.ErrorResponse;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.ControllerAdviceBean;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;
import org.springframework.web.method.support.HandlerMethodReturnValueHandlerComposite;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Answers rejections with 429, refusals with 503, invalid requests with 400 and failed expressions with 500, before the
 * application's advice, whatever its precedence, because advice for every exception would handle them. Leaves them to a handler of
 * the controller, and to advice that names rate limit exceptions. Otherwise a browser gets the application's error page, and any
 * other caller a problem. A response that is already committed just ends.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc6585#section-4">RFC 6585, 429 Too Many Requests</a>
 */
public final class RateLimitExceptionResolver implements HandlerExceptionResolver, Ordered {

    private final SingletonSupplier<HandlerMethodReturnValueHandlerComposite> writers;

    private final ProblemResponses problems;

    /** The declared type of {@link #answer}, by which Spring selects how to write it. */
    private final MethodParameter answerType = new MethodParameter(
            Objects.requireNonNull(BeanUtils.findDeclaredMethodWithMinimalParameters(getClass(), "answer")), -1);

    private final SingletonSupplier<List<ControllerAdviceBean>> applicationAdvice;

    private final Map<Class<?>, ExceptionHandlerMethodResolver> controllers = new ConcurrentHashMap<>();

    /** @param adapters the adapter of the application's handlers, which write their answers as this one */
    public RateLimitExceptionResolver(
            ObjectProvider<RequestMappingHandlerAdapter> adapters,
            ProblemResponses problems,
            ApplicationContext context) {
        this.writers = SingletonSupplier.ofNullable(() -> adapters.stream()
                .map(RequestMappingHandlerAdapter::getReturnValueHandlers)
                .map(new HandlerMethodReturnValueHandlerComposite()::addHandlers)
                .findFirst()
                .orElse(null));
        this.problems = problems;
        this.applicationAdvice = SingletonSupplier.of(new ApplicationAdvice(context)::handlers);
    }

    @Override
    public int getOrder() {
        return HIGHEST_PRECEDENCE;
    }

    @Override
    public @Nullable ModelAndView resolveException(
            HttpServletRequest request, HttpServletResponse response, @Nullable Object handler, Exception failure) {
        WebSettings settings = problems.settings();
        RateLimitException rejection = settings.find(failure);
        HandlerMethodReturnValueHandlerComposite writer = rejection == null ? null : writers.get();
        if (rejection == null || writer == null) {
            return null;
        }
        ServletHeaderRecord.of(request).addIfTighter(rejection, settings);
        Class<?> controller = handler instanceof HandlerMethod method ? method.getBeanType() : null;
        if (isHandledByApplication(controller, failure, rejection)) {
            return null;
        }
        ErrorResponse problem = response.isCommitted() ? null : answer(rejection, request);
        if (problem == null) {
            return new ModelAndView();
        }
        return prefersErrorPage(request)
                ? sendErrorPage(problem, request, response, rejection)
                : write(problem, request, response, writer);
    }

    @Reflective
    private @Nullable ErrorResponse answer(RateLimitException rejection, HttpServletRequest request) {
        Object path = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
        return problems.of(
                rejection,
                path == null ? request.getRequestURI() : path.toString(),
                RequestContextUtils.getLocale(request),
                ServletHeaderRecord.of(request));
    }

    /** Writes as Spring writes what a handler returns, without the search for a handler. */
    private @Nullable ModelAndView write(
            ErrorResponse problem,
            HttpServletRequest request,
            HttpServletResponse response,
            HandlerMethodReturnValueHandlerComposite writer) {
        ModelAndViewContainer container = new ModelAndViewContainer();
        try {
            writer.handleReturnValue(
                    problem, answerType, container, new ServletWebRequest(request, new UnflushedResponse(response)));
        } catch (Exception ex) {
            // The other resolvers tell a client that has disconnected from a failure.
            return null;
        }
        return container.isRequestHandled() ? new ModelAndView() : null;
    }

    /** An error page that is rejected itself has no other one. */
    private static boolean prefersErrorPage(HttpServletRequest request) {
        return request.getDispatcherType() != DispatcherType.ERROR
                && HtmlPreference.in(new ServletServerHttpRequest(request).getHeaders());
    }

    /** Leaves the body to the container's error page: Spring Boot renders it, as for other errors. */
    private static ModelAndView sendErrorPage(
            ErrorResponse problem,
            HttpServletRequest request,
            HttpServletResponse response,
            RateLimitException rejection) {
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
        return new ModelAndView();
    }

    private boolean isHandledByApplication(
            @Nullable Class<?> controller, Exception failure, RuntimeException rejection) {
        if (controller != null
                && controllers
                                .computeIfAbsent(controller, ExceptionHandlerMethodResolver::new)
                                .resolveMethodByThrowable(failure)
                        != null) {
            return true;
        }
        return applicationAdvice.obtain().stream()
                .anyMatch(bean -> bean.isApplicableToBeanType(controller)
                        && ApplicationAdvice.handles(bean.getBeanType(), rejection));
    }

    /** Leaves the end of the response to the container, which then sends headers and body together, with the body's length. */
    private static final class UnflushedResponse extends HttpServletResponseWrapper {

        UnflushedResponse(HttpServletResponse response) {
            super(response);
        }

        @Override
        public void flushBuffer() {}
    }
}
