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
 * Applies the application's CORS configuration to the response of a filter: without CORS headers, a script of another
 * origin cannot read a rejection. Headers that are already set are kept.
 *
 * @param filters of the application, in their order
 * @param mappings of the application, in their order
 */
public record ServletCors(Supplier<List<CorsFilter>> filters, Supplier<List<HandlerMapping>> mappings) {

    /** Whether it is a CORS preflight request that Spring's servlet answers. Other servlets may handle it as any OPTIONS. */
    static boolean isPreflight(HttpServletRequest request) {
        return CorsUtils.isPreFlightRequest(request)
                && isDispatcherServlet(request.getServletContext(), request.getHttpServletMapping());
    }

    private static boolean isDispatcherServlet(ServletContext context, HttpServletMapping mapping) {
        ServletRegistration servlet = context.getServletRegistration(mapping.getServletName());
        return servlet != null && DispatcherServlet.class.getName().equals(servlet.getClassName());
    }

    /** Whether the request's origin is admitted. If not, the request has been answered. */
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

    /** An origin that Spring cannot parse does not come from a browser. */
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
            filter.doFilter(request, response, (sameRequest, sameResponse) -> admitted.set(true));
        } catch (ServletException ex) {
            throw new IllegalStateException(ex);
        }
        return admitted.get();
    }

    private boolean admitsByHandler(HttpServletRequest request, HttpServletResponse response) {
        RequestPath path = (RequestPath) request.getAttribute(ServletRequestPathUtils.PATH_ATTRIBUTE);
        try {
            ServletRequestPathUtils.parseAndCache(request);
            for (HandlerMapping mapping : mappings.get()) {
                HandlerExecutionChain handler = mapping.getHandler(request);
                if (handler != null) {
                    return admits(handler, request, response);
                }
            }
            return true;
        } catch (Exception ex) {
            // Without a handler for the request, there is no CORS configuration of a handler.
            return true;
        } finally {
            ServletRequestPathUtils.setParsedRequestPath(path, request);
            request.removeAttribute(HandlerMapping.PRODUCIBLE_MEDIA_TYPES_ATTRIBUTE);
        }
    }

    /** Calls the CORS interceptor that Spring puts before the application's interceptors. */
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
