package com.acme.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.jayway.jsonpath.JsonPath;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The endpoint of applications that permit changes, and share a Redis: what one is sent is in force on the other. */
class EndpointTests {

    private static final String PATH = "/actuator/ratelimits/changed";

    private final String key = UUID.randomUUID().toString();

    static Stream<Application> applications() {
        return Stream.of(Application.SERVLET, Application.REACTIVE);
    }

    @AfterEach
    void asConfigured() {
        changed(Application.SERVLET.send("DELETE", PATH, ""));
        applications().forEach(each -> awaitCapacity(each, 2));
    }

    @ParameterizedTest
    @MethodSource("applications")
    void aChangedLimitIsInForceOnBothApplications(Application application) {
        Application other = other(application);
        other.allowed("/changed?key=" + key);
        other.allowed("/changed?key=" + key);
        other.rejected("changed", "/changed?key=" + key);

        HttpResponse<String> changed =
                changed(application.send("POST", PATH, "{\"capacity\": 3, \"duration\": \"1h\"}"));
        assertThat(JsonPath.<Integer>read(changed.body(), "$.capacity")).isEqualTo(3);
        awaitCapacity(other, 3);
        other.allowed("/changed?key=" + key);
        other.rejected("changed", "/changed?key=" + key);
        Map<String, Map<String, String>> origins =
                other.json("/actuator/ratelimits", "$.limits.changed.origins");
        assertThat(origins.get("capacity")).containsEntry("source", "OVERRIDE");
        assertThat(origins.get("rate")).containsEntry("source", "CONFIGURATION");

        changed(application.send("DELETE", PATH, ""));
        awaitCapacity(other, 2);
        other.rejected("changed", "/changed?key=" + key);
    }

    @ParameterizedTest
    @MethodSource("applications")
    void anOverrideEndsByItself(Application application) {
        HttpResponse<String> changed =
                changed(application.send("POST", PATH, "{\"capacity\": 3, \"duration\": \"1s\"}"));
        assertThat(JsonPath.<Integer>read(changed.body(), "$.capacity")).isEqualTo(3);
        assertThat(JsonPath.<String>read(changed.body(), "$.override.until")).endsWith("Z");
        applications().forEach(each -> {
            awaitCapacity(each, 2);
            assertThat(each.<Map<String, Object>>json(PATH, "$")).doesNotContainKey("override");
        });
    }

    @ParameterizedTest
    @MethodSource("applications")
    void operatorsCannotUndoEachOthersChangesUnseen(Application application) {
        Application other = other(application);
        long version = version(changed(application.send("POST", PATH, "{\"capacity\": 3, \"version\": 0}")));

        assertProblem(409, other.send("POST", PATH, "{\"capacity\": 4, \"version\": 0}"));
        long next = version(changed(other.send("POST", PATH, "{\"capacity\": 5, \"version\": " + version + "}")));
        assertProblem(409, application.send("DELETE", PATH + "?version=" + version, ""));

        awaitCapacity(application, 5);
        changed(application.send("DELETE", PATH + "?version=" + next, ""));
    }

    @ParameterizedTest
    @MethodSource("applications")
    void anInvalidChangeIsABadRequest(Application application) {
        HttpResponse<String> refused = application.send("POST", PATH, "{\"capacity\": \"many\"}");
        assertProblem(400, refused);
        assertThat(JsonPath.<String>read(refused.body(), "$.detail"))
                .isEqualTo("capacity must be a whole number (was \"many\").");
        assertThat(application.send("POST", PATH, "{\"capasity\": 3}").body()).contains("did you mean 'capacity'?");
        assertProblem(400, application.send("POST", PATH, "{\"capacity\": 3, \"rate\": \"fast\"}"));
        assertProblem(400, application.send("POST", PATH + "?key=" + key, "{\"capacity\": 3}"));
        assertThat(application.<Integer>json(PATH, "$.capacity")).isEqualTo(2);
    }

    @ParameterizedTest
    @MethodSource("applications")
    void anUnknownLimitIsNotFound(Application application) {
        HttpResponse<String> unknown = application.send("POST", "/actuator/ratelimits/change", "{\"capacity\": 3}");
        assertProblem(404, unknown);
        assertThat(unknown.body()).contains("did you mean 'changed'?");
        assertProblem(404, application.send("DELETE", "/actuator/ratelimits/change", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/b/../c", "{a}:{b}", "ключ-😀", "a b&c=d+e%2F;#", "a kilobyte"})
    void aBlockOfAnyKeyIsInForceOnBothApplications(String name) {
        String anyKey = URLEncoder.encode(
                        name.equals("a kilobyte") ? key + "x".repeat(1024 - key.length()) : name + key,
                        StandardCharsets.UTF_8)
                .replace("+", "%20");
        applications().forEach(application -> {
            Application other = other(application);
            changed(application.send("POST", PATH + "?key=" + anyKey, "{\"blockFor\": \"10m\"}"));
            HttpResponse<String> blocked = other.get("/changed?key=" + anyKey);
            assertThat(blocked.statusCode()).isEqualTo(429);
            assertThat(blocked.headers().firstValueAsLong("Retry-After").orElse(0))
                    .isBetween(1L, 600L);
            other.allowed("/changed?key=other" + anyKey);

            changed(application.send("POST", PATH + "?key=" + anyKey, "{\"unblock\": true}"));
            awaitAllowed(other, "/changed?key=" + anyKey);
        });
    }

    @ParameterizedTest
    @MethodSource("applications")
    void permitsThatOneApplicationReturnsTheOtherCanTake(Application application) {
        Application other = other(application);
        String path = "/changed?key=" + key;
        other.allowed(path);
        other.allowed(path);
        other.rejected("changed", path);

        HttpResponse<String> granted = changed(application.send("POST", PATH + "?key=" + key, "{\"grant\": 1}"));
        assertThat(JsonPath.<Integer>read(granted.body(), "$.remaining")).isEqualTo(1);
        awaitAllowed(other, path);
        other.rejected("changed", path);

        HttpResponse<String> reset = changed(application.send("DELETE", PATH + "?key=" + key, ""));
        assertThat(JsonPath.<Integer>read(reset.body(), "$.remaining")).isEqualTo(2);
        awaitAllowed(other, path);
        other.allowed(path);
        other.rejected("changed", path);
    }

    @ParameterizedTest
    @MethodSource("applications")
    void aBlockAfterARejectionIsEndedByTheOtherApplication(Application application) {
        Application other = other(application);
        Await.until("a rejection", () -> application.get("/block?key=" + key).statusCode() == 429);
        String bucket = "/actuator/ratelimits/block?key=" + key;
        assertThat(other.<Map<String, String>>json(bucket, "$")).containsKeys("blockedFor", "blockedUntil");
        other.rejected("block", "/block?key=" + key);

        changed(other.send("DELETE", bucket, ""));
        awaitAllowed(application, "/block?key=" + key);
    }

    private static Application other(Application application) {
        return application == Application.SERVLET ? Application.REACTIVE : Application.SERVLET;
    }

    private static HttpResponse<String> changed(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response;
    }

    private static long version(HttpResponse<String> changed) {
        return JsonPath.<Number>read(changed.body(), "$.override.version").longValue();
    }

    private static void assertProblem(int status, HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type").orElse("")).startsWith("application/problem+json");
    }

    private static void awaitCapacity(Application application, int capacity) {
        Await.until("a capacity of " + capacity, () -> application.<Integer>json(PATH, "$.capacity") == capacity);
    }

    /** Remembered rejections are forgotten when the application is told. */
    private static void awaitAllowed(Application application, String path) {
        Await.until("permits at " + path, () -> application.get(path).statusCode() == 200);
    }
}
