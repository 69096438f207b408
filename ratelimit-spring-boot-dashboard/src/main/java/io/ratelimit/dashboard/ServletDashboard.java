package io.ratelimit.dashboard;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.servlet.handler.SimpleUrlHandlerMapping;

/** Serves the dashboard with Spring MVC. */
final class ServletDashboard implements HttpRequestHandler {

    private final DashboardResponse file;

    private ServletDashboard(DashboardResponse file) {
        this.file = file;
    }

    static SimpleUrlHandlerMapping mapping(Map<String, DashboardResponse> files, int order) {
        return new SimpleUrlHandlerMapping(
                files.entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, file -> new ServletDashboard(file.getValue()))),
                order);
    }

    @Override
    public void handleRequest(HttpServletRequest request, HttpServletResponse response) throws IOException {
        DashboardResponse answer = file.to(request.getMethod(), request.getHeader("If-None-Match"));
        response.setStatus(answer.status());
        answer.headers().forEach(response::setHeader);
        if (answer.body().length > 0) {
            response.setContentLength(answer.body().length);
            response.getOutputStream().write(answer.body());
        }
    }
}
