package io.ratelimit.web;

import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.testing.TestClock;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** An application on a port of its own, for which it is as late in Redis as the test says. */
final class HttpApplication implements AutoCloseable {

    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();

    private final TestClock clock = new TestClock();

    private final BreakableExecutor store;

    private final ConfigurableApplicationContext context;

    HttpApplication(RedisUnderTest redis, WebApplicationType type, Class<?>[] sources, String... properties) {
        store = new BreakableExecutor(redis.executorAt(clock));
        String[] arguments = Stream.concat(
                        Stream.of(
                                "server.port=0",
                                "server.address=127.0.0.1",
                                "spring.main.banner-mode=off",
                                "ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix()),
                        Arrays.stream(properties))
                .map(property -> "--" + property)
                .toArray(String[]::new);
        context = new SpringApplicationBuilder(Application.class)
                .sources(sources)
                .web(type)
                .properties("ratelimit.on-store-failure=throw")
                // A machine that is busy with other tests is no trouble of the store.
                .properties("ratelimit.redis.timeout=20s")
                // By its own clock, which is not the test's.
                .properties("ratelimit.redis.remember-rejections=false")
                .initializers(created ->
                        ((GenericApplicationContext) created).registerBean(RateLimitScriptExecutor.class, () -> store))
                .run(arguments);
    }

    /** @param headers names and values in turns */
    HttpAnswer get(String path, String... headers) {
        String port = context.getEnvironment().getProperty("local.server.port");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .timeout(Duration.ofSeconds(30));
        if (headers.length > 0) {
            request.headers(headers);
        }
        try {
            return new HttpAnswer(CLIENT.send(request.build(), BodyHandlers.ofString()));
        } catch (IOException ex) {
            throw new IllegalStateException(path, ex);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(ex);
        }
    }

    void later(Duration by) {
        clock.advance(by);
    }

    /** From now on. */
    void failStore() {
        store.fail();
    }

    boolean storeFails() {
        return store.isBroken();
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}
}
