package io.ratelimit.actuate;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.testing.OwnAlgorithms.Batches;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** An application with an endpoint over HTTP, and limits in memory unless a property says otherwise. */
final class EndpointApplication implements AutoCloseable {

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private final ConfigurableApplicationContext context;

    EndpointApplication(WebApplicationType type, String... properties) {
        this(type, Quotes.class, properties);
    }

    /** @param source a class with limited methods */
    EndpointApplication(WebApplicationType type, Class<?> source, String... properties) {
        context = new SpringApplicationBuilder(Application.class, source)
                .web(type)
                .run(Stream.of(
                                Stream.of(
                                        "server.port=0",
                                        "server.address=127.0.0.1",
                                        "spring.main.banner-mode=off",
                                        "management.endpoints.web.exposure.include=ratelimits",
                                        "ratelimit.limits.exports.rate=2/h",
                                        "ratelimit.limits.quotes.plan-expression=none",
                                        "ratelimit.limits.quotes.plans.free.capacity=2"),
                                type == WebApplicationType.NONE
                                        ? Stream.<String>of()
                                        : Stream.of(
                                                "ratelimit.http[0].path=/exports/**",
                                                "ratelimit.http[0].limit=exports"),
                                Stream.of(properties).anyMatch(each -> each.startsWith("ratelimit.store="))
                                        ? Stream.<String>of()
                                        : Stream.of("ratelimit.store=in-memory"),
                                Stream.of(properties))
                        .flatMap(each -> each)
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
    }

    ConfigurableApplicationContext context() {
        return context;
    }

    Answer get(String path) {
        return send("GET", path, null);
    }

    Answer post(String path, String body) {
        return send("POST", path, body);
    }

    Answer delete(String path) {
        return send("DELETE", path, null);
    }

    Answer send(String method, String path, String body, String... headers) {
        String port = context.getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + port + "/actuator/ratelimits" + path))
                .timeout(Duration.ofSeconds(30))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (body != null) {
            request.header("Content-Type", "application/json");
        }
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return new Answer(CLIENT.send(request.build(), BodyHandlers.ofString()));
        } catch (IOException ex) {
            throw new IllegalStateException(path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    static String key(String key) {
        return "?key=" + URLEncoder.encode(key, StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        context.close();
    }

    record Answer(int status, String contentType, String body) {

        Answer(HttpResponse<String> response) {
            this(
                    response.statusCode(),
                    response.headers().firstValue("Content-Type").orElse(""),
                    response.body());
        }

        Map<String, Object> json() {
            return JsonParserFactory.getJsonParser().parseMap(body);
        }

        @SuppressWarnings("unchecked")
        Map<String, Object> json(String... path) {
            Map<String, Object> json = json();
            for (String name : path) {
                json = (Map<String, Object>) json.get(name);
            }
            return json;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Batches.class)
    static class Application {}

    /** Its capacity is the configuration's. */
    static class Quotes {

        @RateLimited(
                name = "quotes",
                capacity = 7,
                rate = "10/h",
                keyExpression = "#id",
                permits = "#cost",
                condition = "#cost > 0")
        public void quote(String id, int cost) {}
    }

    /** What the documentation shows, while time stands still. */
    @Import(StoppedClock.class)
    static class Documented {

        @RateLimited(name = "quotes", capacity = 5, rate = "1/s", keyExpression = "#user")
        public void quote(String user) {}

        @RateLimited(name = "logins", rate = "3/m")
        public void logIn(String user) {}
    }
}
