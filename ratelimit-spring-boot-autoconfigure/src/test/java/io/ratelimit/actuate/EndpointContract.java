package io.ratelimit.actuate;

import static io.ratelimit.actuate.EndpointApplication.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.actuate.EndpointApplication.Answer;
import io.ratelimit.testing.LogRecorder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;

/** The endpoint over HTTP, on one stack. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("unchecked")
abstract class EndpointContract {

    private final WebApplicationType type;

    private EndpointApplication writable;

    private EndpointApplication readOnly;

    EndpointContract(WebApplicationType type) {
        this.type = type;
    }

    @BeforeAll
    void start() {
        writable = new EndpointApplication(
                type,
                "management.endpoint.ratelimits.access=unrestricted",
                "ratelimit.limits.quotes.capacity=5",
                "ratelimit.limits.local.rate=2/h",
                "ratelimit.limits.local.scope=instance",
                "ratelimit.limits.batches.algorithm=batches",
                "ratelimit.limits.batches.rate=4/h",
                // Of the application, not of the endpoint.
                "spring.jackson.property-naming-strategy=SNAKE_CASE");
        readOnly = new EndpointApplication(type, "ratelimit.limits.quotes.capacity=5");
    }

    @AfterAll
    void stop() {
        writable.close();
        readOnly.close();
    }

    @AfterEach
    void removeOverrides() {
        assertThat(writable.delete("/quotes").status()).isEqualTo(200);
    }

    @Test
    void readsStoreInstanceAndLimits() {
        Answer answer = readOnly.get("");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.json("store")).isEqualTo(Map.of("kind", "in-memory", "state", "instance"));
        assertThat(answer.json().get("instance"))
                .asString()
                .startsWith(ProcessHandle.current().pid() + "@");
        assertThat(answer.json("limits")).containsOnlyKeys("quotes", "exports");
        assertThat(readOnly.get("/quotes").json()).containsAllEntriesOf(answer.json("limits", "quotes"));
    }

    @Test
    void readsTheInstanceAndTheCallsOfTheLastMinute() {
        take(readOnly, "counted", 3);
        assertThat(allows(limiter(readOnly), "counted", 3)).isFalse();
        take(readOnly, "counted", 1);
        Answer all = readOnly.get("");
        String name = (String) all.json().get("instance");
        assertThat(all.json()).containsEntry("figures", "instance");
        assertThat(all.json().get("instances"))
                .asInstanceOf(LIST)
                .singleElement()
                .satisfies(instance -> {
                    assertThat((Map<String, Object>) instance)
                            .containsEntry("name", name)
                            .containsEntry("state", "instance")
                            .containsKeys("startedAt", "lastSeenAt")
                            .doesNotContainKey("reason");
                });
        Map<String, Integer> counted = Map.of("allowed", 2, "rejected", 1, "dryRunRejected", 0, "refused", 0);
        assertThat(all.json("limits", "quotes", "lastMinute")).isEqualTo(counted);
        assertThat(all.json("limits", "quotes")).doesNotContainKeys("history", "byInstance");
        assertThat(readOnly.get("/quotes").json("byInstance")).isEqualTo(Map.of(name, counted));
        assertThat(all.json("limits", "exports", "lastMinute").values()).containsOnly(0);
    }

    @Test
    void readsTheHistoryOfALimit() {
        take(writable, "in the history", 1);
        Map<String, Object> history = writable.get("?history=15m").json("limits", "quotes", "history");
        assertThat(history).containsEntry("step", "PT5S").doesNotContainKeys("dryRunRejected", "refused");
        List<Integer> allowed = (List<Integer>) history.get("allowed");
        assertThat(allowed).hasSize(181);
        assertThat(allowed.stream().mapToInt(Integer::intValue).sum()).isPositive();
        Instant last = Instant.parse((String) history.get("from")).plusSeconds(5 * 180);
        assertThat(Instant.now()).isBetween(last, last.plusSeconds(120));
        assertThat((List<Integer>)
                        writable.get("/quotes?history=PT30S").json("history").get("allowed"))
                .hasSize(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"16m", "0s", "-1s", "900", "soon", "30s&key=a", "30s&history=30s"})
    void historyThatIsTooLongIsABadRequest(String history) {
        assertProblem(readOnly.get("/quotes?history=" + history), 400, "history must");
    }

    @Test
    void readsTheNameOfAnApplicationsAlgorithm() {
        assertThat(writable.get("/batches").json())
                .containsEntry("algorithm", "batches")
                .containsEntry("capacity", 4);
        writable.context().getBean(RateLimiterRegistry.class).get("batches").tryAcquire("alice", 3);
        assertThat(writable.get("/batches" + key("alice")).json()).containsEntry("remaining", 1);
    }

    @Test
    void readsNumbersOriginsAndWhereALimitApplies() {
        Answer quotes = readOnly.get("/quotes");
        assertThat(quotes.json())
                .containsEntry("algorithm", "TOKEN_BUCKET")
                .containsEntry("capacity", 5)
                .containsEntry("rate", "10/h")
                .containsEntry("maxWait", "PT0S")
                .containsEntry("enabled", true)
                .containsEntry("onStoreFailure", "LOCAL")
                .doesNotContainKeys("override", "pointcut");
        assertThat(quotes.json("methods"))
                .hasSize(1)
                .containsValue(Map.of("key", "#id", "permits", "#cost", "condition", "#cost > 0", "plan", "none"));
        assertThat(quotes.json("origins", "rate")).containsEntry("source", "DECLARATION");
        assertThat(quotes.json("origins", "capacity"))
                .containsEntry("source", "CONFIGURATION")
                .hasEntrySatisfying(
                        "place", place -> assertThat(place.toString()).startsWith("ratelimit.limits.quotes.capacity"));
        assertThat(readOnly.get("/exports").json("requests"))
                .containsOnly(Map.entry("/exports/**", Map.of("key", "all-callers", "permits", "1")));
    }

    @Test
    void overridesALimitAndRemovesTheOverride() {
        Answer set = writable.post("/quotes", "{\"capacity\": 50, \"rate\": \"20/s\", \"duration\": \"1h\"}");
        assertThat(set.status()).as(set.body()).isEqualTo(200);
        assertThat(set.json()).containsEntry("capacity", 50).containsEntry("rate", "20/s");
        assertThat(set.json("override")).containsEntry("capacity", 50).doesNotContainKey("maxWait");
        assertThat(Instant.parse((String) set.json("override").get("until")))
                .isBetween(
                        Instant.now().plus(Duration.ofMinutes(59)),
                        Instant.now().plus(Duration.ofMinutes(61)));
        assertThat(set.json("origins", "capacity")).containsEntry("source", "OVERRIDE");
        assertThat(writable.get("/quotes").json()).containsAllEntriesOf(set.json());
        assertThat(limiter().tryAcquire("over", 50).allowed()).isTrue();

        Answer removed = writable.delete("/quotes");
        assertThat(removed.json()).containsEntry("capacity", 5).doesNotContainKey("override");
    }

    @Test
    void overrideOfAnotherVersionIsAConflict() {
        long version = ((Number) writable.post("/quotes", "{\"capacity\": 50}")
                        .json("override")
                        .get("version"))
                .longValue();
        Answer conflict = writable.post("/quotes", "{\"capacity\": 60, \"version\": " + (version + 1) + "}");
        assertProblem(conflict, 409, "the override must have the version " + (version + 1));
        assertProblem(writable.delete("/quotes?version=" + (version + 1)), 409, "the override must have the version");
        // In Java, the version -1 matches every other one.
        assertProblem(
                writable.post("/quotes", "{\"capacity\": 60, \"version\": -1}"),
                400,
                "version must not be negative (was -1)");
        assertProblem(writable.delete("/quotes?version=-1"), 400, "version must not be negative (was -1)");
        assertThat(writable.get("/quotes").json()).containsEntry("capacity", 50);
        assertThat(writable.post("/quotes", "{\"capacity\": 60, \"version\": " + version + "}")
                        .json())
                .containsEntry("capacity", 60);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {"capacity": -1}                     | capacity must be from
            {"capacity": "many"}                 | capacity must be a whole number (was "many").
            {"rate": "1.5/s"}                    | rate
            {"enabled": "maybe"}                 | enabled must be true or false (was "maybe").
            {"onStoreFailure": "shrug"}          | onStoreFailure must be one of local, allow, reject, throw (was "shrug").
            {"maxWait": "soon"}                  | maxWait must be a duration such as 10m (was "soon").
            {"capacity": 9, "duration": "-1s"}   | duration must be from
            {"capacity": 9, "duration": "PT9223372036854775807S"} | duration must be from
            {"capasity": 9}                      | There is no attribute 'capasity'; did you mean 'capacity'?
            {"capacity": 9, "duration": 3600}    | duration must have a unit, such as 3600s (was 3600).
            {"capacity": 9, "duration": "3600"}  | duration must have a unit, such as 3600s (was 3600).
            {"blockFor": "1m, 60"}               | blockFor must have a unit, such as 60s (was 60).
            {"maxWait": 2}                       | maxWait must have a unit, such as 2s (was 2).
            {"capacity": 9, "principal": "root"} | There is no attribute 'principal'.
            {}                                   | an override must set an attribute
            {"grant": 9}                         | grant must be sent with a key.
            """)
    void invalidOverrideIsABadRequestAndChangesNothing(String body, String detail) {
        assertProblem(writable.post("/quotes", body), 400, detail);
        assertThat(writable.get("/quotes").json()).doesNotContainKey("override");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                              | exactly one of grant, blockFor and unblock
            {"grant": 1, "unblock": true}   | exactly one of grant, blockFor and unblock
            {"grant": 0}                    | grant must be from 1 to 1000000000 (was 0)
            {"unblock": false}              | unblock must be true (was false).
            {"blockFor": "0s"}              | blockFor must be positive
            {"blockFor": 60}                | blockFor must have a unit, such as 60s (was 60).
            {"block": "1m"}                 | There is no attribute 'block'; did you mean 'blockFor'?
            {"blockFor": "1m", "rate": "1"} | rate must only be sent without a key.
            """)
    void invalidChangeOfABucketIsABadRequest(String body, String detail) {
        assertProblem(writable.post("/quotes?key=nobody", body), 400, detail);
    }

    @Test
    void keyIsSentOnce() {
        assertProblem(writable.get("/quotes?key=a&key=b"), 400, "key must be sent once.");
        assertProblem(writable.delete("/quotes?key=a&key=b"), 400, "key must be sent once.");
    }

    @Test
    void unknownLimitIsNotFound() {
        assertProblem(writable.get("/quote"), 404, "There is no limit 'quote'; did you mean 'quotes'?");
        assertProblem(writable.get("/quote?key=a"), 404, "There is no limit 'quote'");
        assertProblem(writable.post("/quote", "{\"capacity\": 1}"), 404, "There is no limit 'quote'");
        assertProblem(writable.delete("/quote"), 404, "There is no limit 'quote'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"alice", "a/b/c", "../x", "{a}}{", "50%", "a+b c", "käse ☕ 𝒦", "", "LONG"})
    void readsAndChangesTheBucketOfAnyKey(String name) {
        String text = name.equals("LONG") ? "k".repeat(1024) : name;
        String bucket = "/quotes" + key(text);
        RateLimiter limiter = limiter();
        assertThat(writable.get(bucket).json())
                .isEqualTo(Map.of("limit", "quotes", "capacity", 5, "remaining", 5, "resetAfter", "PT0S"));
        take(limiter, text, 4);
        assertThat(writable.get(bucket).json()).containsEntry("remaining", 1);
        assertThat(writable.get(bucket).json()).containsEntry("remaining", 1);
        assertThat(writable.post(bucket, "{\"grant\": 2}").json()).containsEntry("remaining", 3);
        Answer blocked = writable.post(bucket, "{\"blockFor\": \"10m\"}");
        assertThat(Duration.parse((String) blocked.json().get("blockedFor")))
                .isBetween(Duration.ofMinutes(9), Duration.ofMinutes(10));
        assertThat(Instant.parse((String) blocked.json().get("blockedUntil"))).isAfter(Instant.now());
        assertThat(allows(limiter, text)).isFalse();
        assertThat(writable.get(bucket).json()).containsKey("blockedUntil");
        assertThat(writable.post(bucket, "{\"unblock\": true}").json()).doesNotContainKey("blockedUntil");
        assertThat(allows(limiter, text)).isTrue();
        assertThat(writable.delete(bucket).json()).containsEntry("remaining", 5);
    }

    @Test
    void keyMayBeSentInTheBody() {
        take(limiter(), "in/body", 5);
        assertThat(writable.post("/quotes", "{\"key\": \"in/body\", \"grant\": 3}")
                        .json())
                .containsEntry("remaining", 3);
    }

    @Test
    void keyOfTheUrlPrecedesThatOfTheBody() {
        take(limiter(), "in-url", 5);
        assertThat(writable.post("/quotes" + key("in-url"), "{\"key\": \"in-body\", \"grant\": 3}")
                        .json())
                .containsEntry("remaining", 3);
    }

    /** Spring refuses them before the endpoint is called. */
    @ParameterizedTest
    @ValueSource(strings = {"{\"blockFor\": [\"1m\", \"10m\"]}", "{\"capacity\": {}}", "{\"capacity\": 9"})
    void listsObjectsAndMalformedJsonAreABadRequest(String body) {
        Answer answer = writable.post("/quotes", body);
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.contentType()).isEqualTo("application/json");
        assertThat(writable.get("/quotes").json()).doesNotContainKey("override");
    }

    @Test
    void bucketOfALimitOfEachInstanceSaysSo() {
        assertThat(writable.get("/local" + key("a")).json()).containsEntry("scope", "INSTANCE");
        assertThat(writable.post("/local" + key("a"), "{\"blockFor\": \"1m\"}").json())
                .containsEntry("scope", "INSTANCE");
        assertThat(writable.delete("/local" + key("a")).json()).containsEntry("scope", "INSTANCE");
    }

    @Test
    void keysAreNeitherListedNorLogged() {
        try (LogRecorder log = new LogRecorder("io.ratelimit")) {
            take(limiter(), "secret-key", 1);
            assertThat(writable.post("/quotes" + key("secret-key"), "{\"blockFor\": \"1m\"}")
                            .body())
                    .doesNotContain("secret-key");
            assertThat(writable.get("").body()).doesNotContain("secret-key");
            assertThat(log.text())
                    .contains("Rate limit 'quotes': a bucket is blocked until")
                    .doesNotContain("secret-key");
        }
    }

    @Test
    void withoutAccessNothingCanBeChanged() {
        assertThat(readOnly.post("/quotes", "{\"capacity\": 50}").status()).isEqualTo(405);
        assertThat(readOnly.post("/quotes?key=a", "{\"blockFor\": \"1m\"}").status())
                .isEqualTo(405);
        assertThat(readOnly.delete("/quotes").status()).isEqualTo(405);
        assertThat(readOnly.get("/quotes").json()).containsEntry("capacity", 5);
        assertThat(readOnly.get("/quotes?key=a").json()).containsEntry("remaining", 5);
    }

    private RateLimiter limiter() {
        return limiter(writable);
    }

    private static RateLimiter limiter(EndpointApplication application) {
        return application.context().getBean(RateLimiterRegistry.class).get("quotes");
    }

    private static void take(EndpointApplication application, String key, int permits) {
        take(limiter(application), key, permits);
    }

    private static boolean allows(RateLimiter limiter, String key, int permits) {
        return limiter.tryAcquire(key, permits).allowed();
    }

    private static void take(RateLimiter limiter, String key, int permits) {
        assertThat((key.isEmpty() ? limiter.allCallers().tryAcquire(permits) : limiter.tryAcquire(key, permits))
                        .allowed())
                .isTrue();
    }

    private static boolean allows(RateLimiter limiter, String key) {
        return (key.isEmpty() ? limiter.allCallers().tryAcquire() : limiter.tryAcquire(key)).allowed();
    }

    private static void assertProblem(Answer answer, int status, String detail) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(status);
        assertThat(answer.contentType()).startsWith("application/problem+json");
        assertThat(answer.json()).containsEntry("status", status).containsKey("title");
        assertThat(answer.json().get("detail")).asString().contains(detail);
    }
}
