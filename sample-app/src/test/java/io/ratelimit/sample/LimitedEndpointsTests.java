package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/** The documented capacities, with rates so slow that nothing comes back while a test runs. */
class LimitedEndpointsTests {

    private static final String KEY_PREFIX = Sample.newKeyPrefix();

    private static Sample sample;

    @BeforeAll
    static void start() {
        sample = Sample.startOnSharedRedis(
                KEY_PREFIX,
                Sample.CONCURRENCY[0],
                Sample.CONCURRENCY[1],
                "ratelimit.limits.quotes.rate=1/h",
                "ratelimit.limits.login.rate=3/h",
                "ratelimit.limits.reports.rate=100/d");
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void answersWithQuotes() {
        sample.quote("reader")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.text")
                .isNotEmpty()
                .jsonPath("$.author")
                .isNotEmpty();
    }

    @Test
    void fiveQuotesForEachUser() {
        for (int i = 0; i < 5; i++) {
            sample.quote("alice").expectStatus().isOk();
        }
        assertRejected(sample.quote("alice"), Duration.ofHours(1));

        sample.quote("bob").expectStatus().isOk();
    }

    @Test
    void threeLoginsForEachName() {
        for (int i = 0; i < 3; i++) {
            sample.login("mallory").expectStatus().isOk();
        }
        assertRejected(sample.login("mallory"), Duration.ofHours(1));

        sample.login("trent")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.message")
                .isEqualTo("Welcome, trent!");
    }

    @Test
    void reportsCostTheirPages() {
        for (int i = 0; i < 3; i++) {
            sample.report("acme", 30).expectStatus().isOk();
        }
        assertRejected(sample.report("acme", 30), Duration.ofDays(1));

        // What was rejected cost nothing: the last ten pages are still there.
        sample.report("acme", 10).expectStatus().isOk();
        assertRejected(sample.report("acme", 1), Duration.ofDays(1));

        sample.report("globex", 100).expectStatus().isOk();
    }

    @Test
    void reportBeyondTheCapacityIsNotWorthWaitingFor() {
        sample.report("initech", 101)
                .expectStatus()
                .isEqualTo(HttpStatus.TOO_MANY_REQUESTS)
                .expectHeader()
                .doesNotExist(HttpHeaders.RETRY_AFTER);
        sample.report("initech", 100).expectStatus().isOk();
    }

    @Test
    void rejectionSaysWhatIsWrong() {
        sample.report("hooli", 101)
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.type")
                .isEqualTo("https://iana.org/assignments/http-problem-types#quota-exceeded")
                .jsonPath("$.status")
                .isEqualTo(429)
                .jsonPath("$.title")
                .isEqualTo("Request cannot be satisfied as assigned quota has been exceeded")
                .jsonPath("$.detail")
                .isEqualTo("Rate limit 'reports' exceeded: the call asks for more than the capacity of 100")
                .jsonPath("$['violated-policies'].length()")
                .isEqualTo(1)
                .jsonPath("$['violated-policies'][0]")
                .isEqualTo("reports");
    }

    @Test
    void nonsenseIsABadRequestAndCostsNothing() {
        assertBadRequest(sample.quote(""), "user must not be blank");
        assertBadRequest(sample.login(""), "username must not be blank");
        assertBadRequest(sample.report("", 1), "tenant must not be blank");
        assertBadRequest(sample.report("umbrella", 0), "pages must be greater than 0");
        assertBadRequest(sample.report("umbrella", -30), "pages must be greater than 0");

        sample.report("umbrella", 100).expectStatus().isOk();
        assertRejected(sample.report("umbrella", 1), Duration.ofDays(1));
    }

    @Test
    void metricsCountRejections() {
        double before = rejectedReports();

        sample.report("soylent", 101).expectStatus().isEqualTo(HttpStatus.TOO_MANY_REQUESTS);

        assertThat(rejectedReports()).isEqualTo(before + 1);
        assertThat(prometheus())
                .contains("ratelimit_calls_total{limit=\"reports\",outcome=\"rejected\"} " + (before + 1))
                .doesNotContain("soylent");
    }

    @Test
    void documentedMetersAreExposedAndNoOthers() throws IOException {
        String page = Files.readString(Path.of("../docs/observability.md"));
        // The sample has one server.
        Set<String> documented = Pattern.compile(
                        "(?m)^\\| `ratelimit\\.[a-z.]+` \\| `(ratelimit_[a-z_]+)`(?!.* only with \\[several servers)")
                .matcher(page)
                .results()
                .map(row -> row.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> exposed = Pattern.compile("(?m)^# TYPE (ratelimit_[a-z_]+?)(_max)? ")
                .matcher(prometheus())
                .results()
                .map(type -> type.group(1))
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(exposed).contains("ratelimit_calls_total").isEqualTo(documented);
    }

    @Test
    void bucketsDoNotStayForever() {
        sample.quote("visitor").expectStatus().isOk();
        sample.login("visitor").expectStatus().isOk();
        sample.report("visitor", 1).expectStatus().isOk();

        StringRedisTemplate redis = sample.bean(StringRedisTemplate.class);
        Set<String> buckets = redis.keys(KEY_PREFIX + ":{visitor}:*");

        assertThat(buckets)
                .hasSize(3)
                .allSatisfy(bucket ->
                        assertThat(redis.getExpire(bucket, TimeUnit.SECONDS)).isPositive());
    }

    @Test
    void healthIsExposed() {
        sample.get("/actuator/health")
                .expectStatus()
                .isOk()
                .expectBody()
                .jsonPath("$.status")
                .isEqualTo("UP");
    }

    private static double rejectedReports() {
        Measured measured = sample.get("/actuator/metrics/ratelimit.calls?tag=limit:reports&tag=outcome:rejected")
                .expectStatus()
                .isOk()
                .expectBody(Measured.class)
                .returnResult()
                .getResponseBody();
        return measured.measurements().get(0).value();
    }

    private static String prometheus() {
        return sample.get("/actuator/prometheus")
                .expectStatus()
                .isOk()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
    }

    private static void assertRejected(ResponseSpec response, Duration longestWait) {
        response.expectStatus()
                .isEqualTo(HttpStatus.TOO_MANY_REQUESTS)
                .expectHeader()
                .value(
                        HttpHeaders.RETRY_AFTER,
                        seconds -> assertThat(Long.parseLong(seconds)).isBetween(1L, longestWait.toSeconds()));
    }

    private static void assertBadRequest(ResponseSpec response, String detail) {
        response.expectStatus()
                .isBadRequest()
                .expectHeader()
                .contentType(MediaType.APPLICATION_PROBLEM_JSON)
                .expectBody()
                .jsonPath("$.detail")
                .isEqualTo(detail);
    }

    private record Measured(List<Measurement> measurements) {

        private record Measurement(double value) {}
    }
}
