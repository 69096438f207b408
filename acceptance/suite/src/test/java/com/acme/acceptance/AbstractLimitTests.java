package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds in every application. A new case is a method of {@code Quotes}, a path of its controller, and a test here. */
abstract class AbstractLimitTests {

    /** Names buckets that no other test uses. */
    final String key = UUID.randomUUID().toString().replace("-", "");

    private final Application application;

    AbstractLimitTests(Application application) {
        this.application = application;
    }

    /** Cases that differ in how the limit is declared or in what the method returns. Each answers its path. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "plain",
                "future",
                "mono",
                "flux",
                "pointcut",
                "token-bucket",
                "fixed-window",
                "sliding-window",
                "sliding-window-log",
                "own-algorithm"
            })
    void theThirdCallWithAKeyIsRejected(String name) {
        String path = "/" + name + "?key=" + key;
        for (int call = 1; call <= 2; call++) {
            assertThat(allowed(path).body()).isEqualTo(name);
        }
        rejected(name, path);
        allowed("/" + name + "?key=other" + key);
    }

    @Test
    void aLeakyBucketRejectsWhatHasNoSlot() {
        allowed("/leaky-bucket?key=" + key);
        rejected("leaky-bucket", "/leaky-bucket?key=" + key);
    }

    @Test
    void severalLimitsAreChargedTogetherOrNotAtAll() {
        spend("/several?key=1" + key + "&tenant=" + key);
        rejected("burst", "/several?key=1" + key + "&tenant=" + key);

        spend("/several?key=2" + key + "&tenant=" + key);
        allowed("/several?key=3" + key + "&tenant=" + key);
        rejected("daily", "/several?key=3" + key + "&tenant=" + key);
    }

    @Test
    void anExpressionCallsABean() {
        allowed("/bean?key=" + key + "-1");
        allowed("/bean?key=" + key + "-2");
        rejected("bean", "/bean?key=" + key + "-3");
    }

    @Test
    void anExpressionReadsAnArgument() {
        allowed("/cost?items=7&key=" + key);
        rejected("cost", "/cost?items=7&key=" + key);
        allowed("/cost?items=3&key=" + key);
        HttpResponse<String> unlimited = allowed("/cost?items=100&key=" + key);
        assertThat(unlimited.headers().firstValue("RateLimit")).isEmpty();
    }

    @Test
    void aCallThatCanNeverSucceedHasNoTimeToRetry() {
        HttpResponse<String> rejected = application.get("/cost?items=11&key=" + key);
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValue("Retry-After")).isEmpty();
    }

    @Test
    void aFallbackAnswersARejectedCall() {
        spend("/fallback?key=" + key);
        assertThat(allowed("/fallback?key=" + key).body()).isEqualTo("cached");
    }

    @Test
    void aFailedCallIsRefunded() {
        for (int call = 1; call <= 3; call++) {
            assertThat(allowed("/refund?fail=true&key=" + key).body()).isEqualTo("the method fails");
        }
        spend("/refund?fail=false&key=" + key);
        rejected("refund", "/refund?fail=false&key=" + key);
    }

    @Test
    void aRejectionBlocksTheKeyForLongerThanThePermitsTake() {
        HttpResponse<String> rejected = application.get("/block?key=" + key);
        for (int call = 1; call <= 100 && rejected.statusCode() == 200; call++) {
            rejected = application.get("/block?key=" + key);
        }
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValue("Retry-After")).hasValue("3600");
        assertThat(JsonPath.<String>read(rejected.body(), "$.detail"))
                .isEqualTo("Rate limit 'block' exceeded: the key is blocked");
        allowed("/block?key=other" + key);
    }

    @Test
    void aCallWaitsForItsPermit() {
        long start = System.nanoTime();
        for (int call = 1; call <= 3; call++) {
            allowed("/wait?key=" + key);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(500));
    }

    @Test
    void aCallWaitsUntilAnotherEnds() {
        passPermit(application, application);
    }

    /** A call to the first application holds the only permit, for which a call to the second one waits. */
    final void passPermit(Application first, Application second) {
        String path = "/hold?key=" + key;
        CompletableFuture<HttpResponse<String>> running = first.getLater(path);
        Await.until("a call that has the permit", () -> first.<Integer>json("/actuator/ratelimits/hold?key=" + key, "$.remaining") == 0);
        CompletableFuture<HttpResponse<String>> waiting = second.getLater(path);

        // It has its permit a little before it runs.
        Await.until("an end", () -> first.allowed("/end?key=" + key).body().equals("1"));
        assertThat(running.join().body()).isEqualTo("hold");
        Await.until("a call that has the permit", () -> {
            second.allowed("/end?key=" + key);
            return waiting.isDone();
        });
        assertThat(waiting.join().body()).isEqualTo("hold");
    }

    @Test
    void theRegistryDecides() {
        String path = "/registry?key=" + key;
        assertThat(List.of(allowed(path).body(), allowed(path).body(), allowed(path).body()))
                .containsExactly("true", "true", "false");
    }

    @Test
    void aUrlIsLimited() {
        spend("/url/" + key);
        rejected("url", "/url/" + key);
        allowed("/url/other" + key);
    }

    @Test
    void aHeaderIsTheKey() {
        spend("/header", "X-Api-Key", key);
        rejected("header", "/header", "X-Api-Key", key);
    }

    @Test
    void aRequestWithoutItsKeyIsBad() {
        assertThat(application.get("/header").statusCode()).isEqualTo(400);
    }

    @Test
    void theAddressIsTheKey() {
        // Other applications that share the bucket have the same address.
        Application.SERVLET.send("DELETE", "/actuator/ratelimits/address?key=127.0.0.1", "");
        spend("/address");
        rejected("address", "/address");
    }

    /** Otherwise the runs with AOT processing would prove nothing. */
    @Test
    void theApplicationIsConfiguredAsTheRunAsks() {
        boolean generated = System.getProperty("acceptance.jvm-options", "").contains("spring.aot.enabled=true");

        assertThat(application.startLog()).contains("configured by " + (generated ? "generated code" : "annotations"));
    }

    @Test
    void aRejectionIsAProblem() {
        spend("/mono?key=" + key);

        HttpResponse<String> rejected = application.get("/mono?key=" + key);

        assertThat(rejected.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        assertThat(JsonPath.<Map<String, Object>>read(rejected.body(), "$"))
                .containsEntry("type", "https://iana.org/assignments/http-problem-types#quota-exceeded")
                .containsEntry("title", "Request cannot be satisfied as assigned quota has been exceeded")
                .containsEntry("status", 429)
                .containsEntry("detail", "Rate limit 'mono' exceeded")
                .containsEntry("instance", "/mono")
                .containsEntry("violated-policies", List.of("mono"));
    }

    @Test
    void aBrowserGetsAPageWithTheHeaders() {
        spend("/mono?key=" + key);

        HttpResponse<String> page = application.get("/mono?key=" + key, "Accept", "text/html");

        assertThat(page.statusCode()).isEqualTo(429);
        assertThat(page.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
        assertThat(page.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(page.headers().firstValue("RateLimit").orElseThrow()).startsWith("\"mono\";r=0;t=");
    }

    @Test
    void theHeadersShowTheQuotaOfEachLimit() {
        HttpResponse<String> allowed = allowed("/several?key=" + key + "&tenant=" + key);

        assertThat(allowed.headers().firstValue("RateLimit-Policy"))
                .hasValue("\"burst\";q=2;w=86400, \"daily\";q=5;w=86400");
        assertThat(allowed.headers().firstValue("RateLimit").orElseThrow())
                .matches("\"burst\";r=1;t=\\d+, \"daily\";r=4;t=\\d+");
    }

    @Test
    void theEndpointListsTheLimits() {
        Map<String, Object> limit = application.json("/actuator/ratelimits", "$.limits.sliding-window-log");
        assertThat(limit)
                .containsEntry("algorithm", "SLIDING_WINDOW_LOG")
                .containsEntry("capacity", 2)
                .containsEntry("rate", "2/d");
        assertThat(application.<Map<String, Object>>json("/actuator/ratelimits", "$.limits.pointcut.methods"))
                .containsOnlyKeys("com.acme.PartnerClient.call(String)");
        assertThat(application.<Map<String, Object>>json("/actuator/ratelimits", "$.limits.url.requests"))
                .hasSize(1);
    }

    @Test
    void theEndpointShowsOneLimitWithOrigins() {
        assertThat(application.<String>json("/actuator/ratelimits/plain", "$.origins.rate.source"))
                .isEqualTo("DECLARATION");
        assertThat(application.<String>json("/actuator/ratelimits/url", "$.origins.rate.source"))
                .isEqualTo("CONFIGURATION");
        HttpResponse<String> unknown = application.get("/actuator/ratelimits/plan");
        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(unknown.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
        assertThat(unknown.body()).contains("did you mean 'plain'?");
    }

    @Test
    void metersCountTheCalls() {
        double allowed = application.meter("ratelimit.calls", "limit:mono", "outcome:allowed");
        double rejected = application.meter("ratelimit.calls", "limit:mono", "outcome:rejected");

        spend("/mono?key=" + key);
        rejected("mono", "/mono?key=" + key);

        assertThat(application.meter("ratelimit.calls", "limit:mono", "outcome:allowed"))
                .isEqualTo(allowed + 2);
        assertThat(application.meter("ratelimit.calls", "limit:mono", "outcome:rejected"))
                .isEqualTo(rejected + 1);
    }

    @Test
    void theStartIsLoggedWithoutAWarning() {
        assertThat(application.startLog())
                .anySatisfy(line -> assertThat(line).contains("Rate limit 'plain': TOKEN_BUCKET, capacity 2 at 2/d"))
                .noneSatisfy(line -> assertThat(line).containsPattern(" (WARN|ERROR) "));
    }

    @Test
    void theJarUnderTestIsPackaged() {
        assertThat(application.library("ratelimit-spring-boot-autoconfigure-under-test.jar"))
                .isEqualTo(JarUnderTest.content());
    }

    /** Takes both permits of a bucket. */
    final void spend(String path, String... headers) {
        allowed(path, headers);
        allowed(path, headers);
    }

    final HttpResponse<String> allowed(String path, String... headers) {
        return application.allowed(path, headers);
    }

    final void rejected(String limit, String path, String... headers) {
        application.rejected(limit, path, headers);
    }
}
