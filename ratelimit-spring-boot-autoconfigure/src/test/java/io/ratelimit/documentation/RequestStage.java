package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.redis.RedisUnderTest;
import io.ratelimit.testing.redis.RedisServer;
import io.ratelimit.testing.redis.SharedRedis;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * A web application with a limit for each feature. URL rules charge it, and methods where a feature needs a result. The headers of a
 * request choose the feature.
 */
final class RequestStage implements AutoCloseable {

    private static final List<String> OF_METHODS = List.of("permitsAfter", "refundOn");

    private final ConfigurableApplicationContext context;

    private final HttpClient http =
            HttpClient.newBuilder().version(Version.HTTP_1_1).build();

    private final HttpClient http2 =
            HttpClient.newBuilder().version(Version.HTTP_2).build();

    private final List<CompletableFuture<?>> responses = new ArrayList<>();

    private final String origin;

    private final boolean isShared;

    /** @param further the Redis server of {@link FeatureLimits#SERVER}; {@code null}: in memory */
    RequestStage(WebApplicationType type, @Nullable RedisServer further) throws Exception {
        isShared = further != null;
        List<String> properties = new ArrayList<>(List.of(
                "server.port=0",
                "server.address=127.0.0.1",
                "server.http2.enabled=true",
                "spring.main.banner-mode=off"));
        properties.addAll(
                further == null
                        ? List.of("ratelimit.store=in-memory")
                        : List.of(
                                "spring.data.redis.host=" + SharedRedis.get().host(),
                                "spring.data.redis.port=" + SharedRedis.get().port(),
                                "ratelimit.redis.key-prefix=" + RedisUnderTest.newPrefix(),
                                "ratelimit.redis.timeout=20s",
                                "ratelimit.redis.eu.url=redis://127.0.0.1:" + further.port()));
        FeatureLimits.features()
                .filter(this::has)
                .flatMap(feature -> Stream.concat(
                        FeatureLimits.properties(feature), ofRequests(type, feature, FeatureLimits.name(feature))))
                .forEach(properties::add);
        ofRequests(type, "several limits", "other").forEach(properties::add);
        List<String> rules = FeatureLimits.features()
                .filter(this::has)
                .filter(feature -> !OF_METHODS.contains(feature))
                .map(FeatureLimits::name)
                .toList();
        for (int i = 0; i <= rules.size(); i++) {
            properties.add("ratelimit.http[" + i + "].path=/events/*");
            properties.add("ratelimit.http[" + i + "].limit=" + (i == rules.size() ? "other" : rules.get(i)));
        }
        context = new SpringApplicationBuilder(
                        type == WebApplicationType.SERVLET ? TomcatApplication.class : NettyApplication.class)
                .web(type)
                .properties(properties.toArray(String[]::new))
                .run();
        origin = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port");
        HttpResponse<Void> upgrade = http2.send(request("none", "", 0, "plain"), BodyHandlers.discarding());
        assertThat(upgrade.version()).isEqualTo(Version.HTTP_2);
    }

    private static Stream<String> ofRequests(WebApplicationType type, String feature, String limit) {
        boolean isServlet = type == WebApplicationType.SERVLET;
        Stream<String> own = switch (feature) {
            case "permitsAfter" -> Stream.of("permits-after=@cost", "pointcut=execution(* *..Calls.costs(..))");
            case "refundOn" ->
                Stream.of(
                        "refund-on=java.lang.IllegalStateException,"
                                + (isServlet
                                        ? "org.springframework.web.context.request.async.AsyncRequestTimeoutException"
                                        : "java.util.concurrent.TimeoutException"),
                        "pointcut=execution(* *..Calls.fails(..))");
            case "plans" -> Stream.of("plan-expression='gold'");
            default -> Stream.of();
        };
        return Stream.of(
                        Stream.of(
                                "key-expression=header('X-Key')",
                                "permits=header('X-Permits')",
                                "condition=header('X-Feature') == '" + feature + "'"),
                        own,
                        isServlet && !OF_METHODS.contains(feature)
                                ? Stream.of("pointcut=execution(* *..Calls.again(..))")
                                : Stream.<String>of())
                .flatMap(properties -> properties)
                .map(property -> "ratelimit.limits." + limit + "." + property);
    }

    boolean has(String feature) {
        return isShared || !feature.equals(FeatureLimits.SERVER);
    }

    FeatureLimits limits() {
        return new FeatureLimits(context.getBean(RateLimiterRegistry.class));
    }

    /** Sends requests that take six permits. The event happens to them. */
    void take(String feature, String key, String event) throws Exception {
        switch (feature) {
            case "lease" -> {
                for (int i = 0; i <= FeatureLimits.TAKEN; i++) {
                    send(feature, key, 1, event, success(event));
                }
            }
            case "blockFor" -> {
                send(feature, key, FeatureLimits.TAKEN, event, success(event));
                send(feature, key, FeatureLimits.TAKEN, "plain", 429);
            }
            case "rejection cache" -> {
                send(feature, key, 10, event, success(event));
                send(feature, key, 1, "plain", 429);
            }
            default -> send(feature, key, FeatureLimits.TAKEN, event, success(event));
        }
    }

    private static int success(String event) {
        return event.equals("error") ? 500 : 200;
    }

    /** A client of HTTP/2 resets the stream to cancel a request. One of HTTP/1.1 closes the connection. */
    private void send(String feature, String key, int permits, String event, int status) throws Exception {
        CompletableFuture<Integer> begun = new CompletableFuture<>();
        CompletableFuture<?> response = (event.equals("cancel") ? http2 : http)
                .sendAsync(
                        request(feature, key, permits, event),
                        info -> BodySubscribers.ofByteArrayConsumer(bytes -> begun.complete(info.statusCode())));
        responses.add(response);
        assertThat(begun.get(1, TimeUnit.MINUTES)).as(feature).isEqualTo(status);
        if (event.equals("cancel") || event.equals("disconnect")) {
            response.cancel(true);
        }
    }

    private HttpRequest request(String feature, String key, int permits, String event) {
        return HttpRequest.newBuilder(URI.create(origin + "/events/" + event))
                .header("X-Feature", feature)
                .header("X-Key", key)
                .header("X-Permits", "" + permits)
                .build();
    }

    /** Waits until all requests are over, for clients and handlers. */
    void awaitEnd() {
        Streams streams = context.getBean(Streams.class);
        await().until(() -> responses.stream().allMatch(CompletableFuture::isDone));
        responses.clear();
        await().until(() -> {
            streams.open.forEach(Runnable::run);
            return streams.open.isEmpty();
        });
    }

    @Override
    public void close() {
        context.close();
    }

    /** What handlers write until the end of a request. */
    static final class Streams {

        static final Duration TIMEOUT = Duration.ofMillis(50);

        /** Each writes to a response once more. */
        final Set<Runnable> open = ConcurrentHashMap.newKeySet();
    }
}
