package io.ratelimit.sample;

import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/** The sample, started as its {@code main} does and reached over HTTP as its users do. */
final class Sample implements AutoCloseable {

    /** A free port; and patience, because on a busy machine Redis can be slow without being down. */
    private static final List<String> ALWAYS =
            List.of("server.port=0", "ratelimit.redis.timeout=10s", "spring.data.redis.timeout=10s");

    private final ConfigurableApplicationContext context;

    private final int port;

    private final RestTestClient client;

    private Sample(String... properties) {
        // Later ones replace earlier ones.
        Map<String, String> arguments = new LinkedHashMap<>();
        Stream.concat(ALWAYS.stream(), Arrays.stream(properties))
                .forEach(property -> arguments.put(property.substring(0, property.indexOf('=')), "--" + property));
        context = SpringApplication.run(
                SampleApplication.class, arguments.values().toArray(String[]::new));
        port = ((WebServerApplicationContext) context).getWebServer().getPort();
        client = RestTestClient.bindToServer()
                .baseUrl("http://127.0.0.1:" + port)
                .build();
    }

    /** On the Redis that it brings along. */
    static Sample start(String... properties) {
        return new Sample(properties);
    }

    /** A limit that the sample does not have: with it, every meter is there. */
    static final String[] CONCURRENCY = {
        "ratelimit.limits.exports.algorithm=concurrency", "ratelimit.limits.exports.capacity=5"
    };

    /** No other test has it, in this run or another. */
    static String newKeyPrefix() {
        return "sample-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    }

    /** @param keyPrefix keeps the buckets apart from those of other tests, and of earlier runs, on the same Redis */
    static Sample startOnSharedRedis(String keyPrefix, String... properties) {
        SharedRedis redis = SharedRedis.get();
        return new Sample(Stream.concat(
                        Stream.of(
                                "spring.data.redis.host=" + redis.host(),
                                "spring.data.redis.port=" + redis.port(),
                                "ratelimit.redis.key-prefix=" + keyPrefix),
                        Arrays.stream(properties))
                .toArray(String[]::new));
    }

    /** On a Redis of the test's own, which can fail. */
    static Sample startOn(RedisServer redis, String... properties) {
        return new Sample(Stream.concat(redis.properties().stream(), Arrays.stream(properties))
                .toArray(String[]::new));
    }

    int port() {
        return port;
    }

    /** For a browser. */
    String url(String path) {
        return "http://127.0.0.1:" + port + path;
    }

    String managementUrl(String path) {
        return "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.management.port") + path;
    }

    ResponseSpec get(String uri) {
        return client.get().uri(uri).exchange();
    }

    ResponseSpec post(String uri) {
        return client.post().uri(uri).exchange();
    }

    ResponseSpec postFor(String uri, MediaType accepted) {
        return client.post().uri(uri).accept(accepted).exchange();
    }

    ResponseSpec post(String uri, String json) {
        return client.post()
                .uri(uri)
                .contentType(MediaType.APPLICATION_JSON)
                .body(json)
                .exchange();
    }

    ResponseSpec delete(String uri) {
        return client.delete().uri(uri).exchange();
    }

    ResponseSpec quote(String user) {
        return get("/api/quotes?user=" + user);
    }

    ResponseSpec login(String username) {
        return post("/api/login?username=" + username);
    }

    ResponseSpec report(String tenant, int pages) {
        return post("/api/reports?tenant=" + tenant + "&pages=" + pages);
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    <T> Collection<T> beans(Class<T> type) {
        return context.getBeansOfType(type).values();
    }

    @Override
    public void close() {
        context.close();
    }
}
