package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.test.AutoConfigureRateLimits;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Over HTTP, with a clock that stands still. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@AutoConfigureRateLimits
class GatewayTests {

    private static final Semaphore begun = new Semaphore(0);

    private static final Semaphore done = new Semaphore(0);

    @Value("http://127.0.0.1:${local.server.port}")
    String gateway;

    @DynamicPropertySource
    static void services(DynamicPropertyRegistry properties) throws Exception {
        properties.add("services.orders", Services.start(() -> {})::toString);
        properties.add("services.reports", Services.start(() -> {
            begun.release();
            done.acquire();
        })::toString);
    }

    @Test
    void routesAndCallersAreLimited() throws Exception {
        for (int left = 9; left >= 0; left--) {
            HttpResponse<String> order = get("/orders/1", "alices-key").join();
            assertThat(order.statusCode()).isEqualTo(204);
            assertThat(order.headers().firstValue("RateLimit").orElse("")).contains("\"orders\";r=" + left + ";");
        }
        assertRejected("orders", get("/orders/1", "alices-key").join());

        CompletableFuture<HttpResponse<String>> one = get("/reports/1", "alices-key");
        CompletableFuture<HttpResponse<String>> two = get("/reports/2", "alices-key");
        assertThat(begun.tryAcquire(2, 30, TimeUnit.SECONDS)).isTrue();
        assertRejected("reports", get("/reports/3", "bobs-key").join());
        done.release(20);
        assertThat(one.join().statusCode()).isEqualTo(204);
        assertThat(two.join().statusCode()).isEqualTo(204);

        // Of 20 calls, alice has made 13: the gateway has counted the one that the route has rejected.
        for (int further = 1; further <= 7; further++) {
            assertThat(get("/reports/4", "alices-key").join().statusCode()).isEqualTo(204);
        }
        assertRejected("caller", get("/reports/5", "alices-key").join());
        assertThat(get("/reports/5", "bobs-key").join().statusCode()).isEqualTo(204);
        assertThat(get("/orders/1", "a-guessed-key").join().statusCode()).isEqualTo(401);
    }

    private static void assertRejected(String limit, HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(response.body()).contains("\"violated-policies\":[\"" + limit + "\"]");
    }

    private CompletableFuture<HttpResponse<String>> get(String path, String key) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(gateway + path)).header("X-Api-Key", key);
        return HttpClient.newHttpClient()
                .sendAsync(request.timeout(Duration.ofSeconds(30)).build(), HttpResponse.BodyHandlers.ofString());
    }
}
