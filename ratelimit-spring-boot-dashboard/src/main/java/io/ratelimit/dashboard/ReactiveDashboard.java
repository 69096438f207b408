package io.ratelimit.dashboard;

import java.util.Map;
import java.util.stream.Collectors;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebHandler;
import reactor.core.publisher.Mono;

/** Serves the dashboard with Spring WebFlux. */
final class ReactiveDashboard implements WebHandler {

    private final DashboardResponse file;

    private ReactiveDashboard(DashboardResponse file) {
        this.file = file;
    }

    static SimpleUrlHandlerMapping mapping(Map<String, DashboardResponse> files, int order) {
        return new SimpleUrlHandlerMapping(
                files.entrySet().stream()
                        .collect(Collectors.toMap(Map.Entry::getKey, file -> new ReactiveDashboard(file.getValue()))),
                order);
    }

    @Override
    public Mono<Void> handle(ServerWebExchange exchange) {
        ServerHttpRequest request = exchange.getRequest();
        ServerHttpResponse response = exchange.getResponse();
        DashboardResponse answer =
                file.to(request.getMethod().name(), request.getHeaders().getFirst("If-None-Match"));
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        answer.headers().forEach(response.getHeaders()::set);
        if (answer.body().length == 0) {
            return response.setComplete();
        }
        response.getHeaders().setContentLength(answer.body().length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(answer.body())));
    }
}
