package io.ratelimit.web.servlet;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.RequestPath;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.filter.CorsFilter;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Does to the answer of a filter what the application would do to that of a handler: without the fields of CORS, a script
 * of another origin cannot read a rejection. Those that have been written are left as they are.
 */
public final class ServletCors {

    private final Supplier<List<CorsFilter>> filters;

    private final Supplier<List<HandlerMapping>> mappings;

    /** Both those of the application, in their order. */
    public ServletCors(Supplier<List<CorsFilter>> filters, Supplier<List<HandlerMapping>> mappings) {
        this.filters = filters;
        this.mappings = mappings;
    }

    /** Whether a browser asks, and Spring's servlet answers. Another may take the request for any other of its method. */
    static boolean isPreflight(HttpServletRequest request) {
        return CorsUtils.isPreFlightRequest(request)
                && isSprings(request.getServletContext(), request.getHttpServletMapping());
    }

    private static boolean isSprings(ServletContext context, HttpServletMapping mapping) {
        ServletRegistration servlet = context.getServletRegistration(mapping.getServletName());
        return servlet != null && DispatcherServlet.class.getName().equals(servlet.getClassName());
    }

    /** Whether the request's origin may be answered; if not, it has been. */
    boolean admits(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!isCorsRequest(request)) {
            return true;
        }
        for (CorsFilter filter : filters.get()) {
            if (!admits(filter, request, response)) {
                return false;
            }
        }
        return admitsByHandler(request, response);
    }

    /** No browser sends an origin that Spring cannot read. */
    private static boolean isCorsRequest(HttpServletRequest request) {
        try {
            return CorsUtils.isCorsRequest(request);
        } catch (IllegalArgumentException ex) {
            return false;
        }
    }

    private static boolean admits(CorsFilter filter, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        AtomicBoolean admitted = new AtomicBoolean();
        try {
            filter.doFilter(request, response, (same, also) -> admitted.set(true));
        } catch (ServletException ex) {
            throw new IllegalStateException(ex);
        }
        return admitted.get();
    }

    private boolean admitsByHandler(HttpServletRequest request, HttpServletResponse response) {
        RequestPath path = (RequestPath) request.getAttribute(ServletRequestPathUtils.PATH_ATTRIBUTE);
        try {
            ServletRequestPathUtils.parseAndCache(request);
            HandlerExecutionChain handler = handler(request);
            return handler == null || admits(handler, request, response);
        } catch (Exception ex) {
            // No handler takes the request, so none says anything about its origin.
            return true;
        } finally {
            ServletRequestPathUtils.setParsedRequestPath(path, request);
            request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
        }
    }

    private @Nullable HandlerExecutionChain handler(HttpServletRequest request) throws Exception {
        for (HandlerMapping mapping : mappings.get()) {
            HandlerExecutionChain handler = mapping.getHandler(request);
            if (handler != null) {
                return handler;
            }
        }
        return null;
    }

    /** By the interceptor that Spring puts before the application's. */
    private static boolean admits(
            HandlerExecutionChain handler, HttpServletRequest request, HttpServletResponse response) throws Exception {
        for (HandlerInterceptor interceptor : handler.getInterceptorList()) {
            if (interceptor instanceof CorsConfigurationSource) {
                return interceptor.preHandle(request, response, handler.getHandler());
            }
        }
        return true;
    }
}
