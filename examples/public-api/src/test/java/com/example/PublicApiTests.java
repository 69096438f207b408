package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

/** Over HTTP, with a clock that the test moves. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@AutoConfigureRateLimits
class PublicApiTests {

    @Value("${local.server.port}")
    int port;

    @Autowired
    MutableTimeSource time;

    @Test
    void aFreeCustomerHasTenCallsAMinuteAndAProCustomerMore() throws Exception {
        for (int left = 9; left >= 0; left--) {
            HttpResponse<String> allowed = get("/api/weather/rome", "key-of-alice");
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(header(allowed, "RateLimit")).startsWith("\"minute\";r=" + left + ";");
        }

        HttpResponse<String> rejected = get("/api/weather/rome", "second-key-of-alice");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(header(rejected, "RateLimit-Policy")).isEqualTo("\"minute\";q=10;w=60, \"day\";q=500;w=86400");
        assertThat(header(rejected, "Retry-After")).isEqualTo("6");
        assertThat(rejected.body()).contains("\"violated-policies\":[\"minute\"]");

        HttpResponse<String> report = get("/api/reports/rome", "key-of-bob");
        assertThat(report.statusCode()).isEqualTo(200);
        assertThat(header(report, "RateLimit-Policy")).contains("\"minute\";q=100;w=6", "\"day\";q=100000;");
        assertThat(header(report, "RateLimit")).contains("\"minute\";r=95;", "\"day\";r=99995;");

        time.advance(Duration.ofSeconds(6));
        assertThat(get("/api/weather/rome", "key-of-alice").statusCode()).isEqualTo(200);
        assertThat(get("/api/weather/rome", "a-guessed-key").statusCode()).isEqualTo(401);
    }

    private HttpResponse<String> get(String path, String key) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .header("X-Api-Key", key)
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }
}
