package io.ratelimit.web;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** An application on a real server, with limits in memory, which runs for the tests of a class or until it is closed. */
final class RunningApplication implements BeforeAllCallback, AfterAllCallback, AutoCloseable {

    private final WebApplicationType type;

    private final Class<?> source;

    private final String[] properties;

    private ConfigurableApplicationContext context;

    RunningApplication(WebApplicationType type, Class<?> source, String... properties) {
        this.type = type;
        this.source = source;
        this.properties = properties;
    }

    @Override
    public void beforeAll(ExtensionContext tests) {
        start();
    }

    RunningApplication start() {
        context = new SpringApplicationBuilder(source)
                .web(type)
                .run(Stream.concat(
                                Stream.of(
                                        "server.port=0",
                                        "server.address=127.0.0.1",
                                        "spring.main.banner-mode=off",
                                        "ratelimit.store=in-memory"),
                                Stream.of(properties))
                        .map(property -> "--" + property)
                        .toArray(String[]::new));
        return this;
    }

    @Override
    public void afterAll(ExtensionContext tests) {
        close();
    }

    @Override
    public void close() {
        context.close();
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    RateLimiter limiter(String name) {
        return bean(RateLimiterRegistry.class).get(name);
    }

    /** Reads the whole response. */
    RawHttp.Answer get(String path) {
        return http().send("GET /" + path);
    }

    RawHttp http() {
        return new RawHttp(port());
    }

    int port() {
        return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
    }
}
