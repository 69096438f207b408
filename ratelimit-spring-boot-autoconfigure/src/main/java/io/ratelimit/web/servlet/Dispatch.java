package io.ratelimit.web.servlet;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;

/** One of the passes that a request makes through a servlet container: its first, or a forward, an error page, and so on. */
record Dispatch(DispatcherType type, int number, String uri) {

    private static final Dispatch FIRST = new Dispatch(DispatcherType.REQUEST, 0, "");

    /** @param number how often the container has begun anew */
    static Dispatch of(HttpServletRequest request, int number) {
        DispatcherType type = request.getDispatcherType();
        return type == DispatcherType.REQUEST ? FIRST : new Dispatch(type, number, request.getRequestURI());
    }

    boolean isFirst() {
        return type == DispatcherType.REQUEST;
    }
}
