package io.ratelimit.dashboard;

import io.ratelimit.annotation.RateLimited;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** An application with the dashboard, on either stack, and limits in memory. */
final class DashboardApplication implements AutoCloseable {

    /** The tests have two servers for a reactive application. */
    private static final String TOMCAT =
            "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration,"
                    + "org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration";

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private final ConfigurableApplicationContext context;

    DashboardApplication(WebApplicationType type, String... properties) {
        this(type, Limits.class, properties);
    }

    /** @param source declares beans */
    DashboardApplication(WebApplicationType type, Class<?> source, String... properties) {
        context = new SpringApplicationBuilder(Application.class, source)
                .web(type)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "spring.main.banner-mode=off",
                        "management.endpoints.web.exposure.include=ratelimits",
                        "ratelimit.store=in-memory",
                        "spring.autoconfigure.exclude=" + (type == WebApplicationType.REACTIVE ? TOMCAT : ""))
                .run(Arrays.stream(properties).map(property -> "--" + property).toArray(String[]::new));
    }

    HttpResponse<String> get(String path, String... headers) {
        return send("GET", "local.server.port", path, headers);
    }

    HttpResponse<String> getFromManagementServer(String path) {
        return send("GET", "local.management.port", path);
    }

    HttpResponse<String> send(String method, String port, String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(
                        "http://127.0.0.1:" + context.getEnvironment().getProperty(port) + path))
                .timeout(Duration.ofSeconds(30))
                .method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return CLIENT.send(request.build(), BodyHandlers.ofString());
        } catch (IOException ex) {
            throw new IllegalStateException(path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Limits.class)
    static class Application {}

    static class Limits {

        @RateLimited(name = "quotes", rate = "10/h", keyExpression = "#user")
        public void quote(String user) {}
    }
}
