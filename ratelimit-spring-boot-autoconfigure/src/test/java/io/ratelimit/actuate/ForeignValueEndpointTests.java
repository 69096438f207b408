package io.ratelimit.actuate;

import static io.ratelimit.actuate.EndpointApplication.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.actuate.EndpointApplication.Answer;
import io.ratelimit.testing.LogRecorder;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;

/** A value that the starter did not write is explained in the answer. What Redis has replied is in the log alone. */
@LongRunning
class ForeignValueEndpointTests {

    @Test
    void answersSayWhatHappenedAndWhatToDo() {
        try (RedisServer redis = RedisServer.loadingAtOnce();
                LogRecorder log = new LogRecorder("io.ratelimit");
                EndpointApplication application = new EndpointApplication(
                        WebApplicationType.SERVLET,
                        Stream.concat(
                                        Stream.of(
                                                "management.endpoint.ratelimits.access=unrestricted",
                                                "ratelimit.store=redis",
                                                "ratelimit.redis.timeout=5s"),
                                        redis.properties().stream())
                                .toArray(String[]::new))) {
            application.post("/quotes" + key("alice"), "{\"blockFor\": \"10m\"}");
            String bucket = ((List<?>) redis.send("KEYS", "*:quotes"))
                    .stream().map(ForeignValueEndpointTests::text).findFirst().orElseThrow();
            redis.send("DEL", bucket);
            redis.send("HSET", bucket, "field", "value");

            for (Answer answer : new Answer[] {
                application.get("/quotes" + key("alice")),
                application.post("/quotes" + key("alice"), "{\"grant\": 1}"),
                application.post("/quotes", "{\"key\": \"alice\", \"blockFor\": \"1m\"}")
            }) {
                assertExplained(answer, "at the key of this bucket", "reset the bucket");
            }
            assertThat(application.get("/quotes" + key("bob")).status()).isEqualTo(200);
            assertThat(log.lines()).contains(failed("the value at the key is not a rate limit"));
            assertThat(log.text()).doesNotContain("alice");
            assertThat(application.delete("/quotes" + key("alice")).status()).isEqualTo(200);
            assertThat(application.get("/quotes" + key("alice")).status()).isEqualTo(200);

            redis.send("HSET", "ratelimit:%overrides", "field", "value");
            assertExplained(
                    application.post("/quotes", "{\"capacity\": 9}"), "at the key of the overrides", ":%overrides");
            assertThat(log.text()).contains("Request to the endpoint ratelimits failed (Redis: WRONGTYPE Operation");
            redis.send("SET", "ratelimit:%overrides", "hello");
            assertExplained(application.delete("/quotes"), "at the key of the overrides", ":%overrides");
            redis.send("DEL", "ratelimit:%overrides");
            assertThat(application.post("/quotes", "{\"capacity\": 9}").status())
                    .isEqualTo(200);
        }
    }

    private static String failed(String reply) {
        return "Request to the endpoint ratelimits failed (Redis: " + reply + "); nothing was changed";
    }

    private static void assertExplained(Answer answer, String what, String remedy) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(503);
        assertThat(answer.contentType()).isEqualTo("application/problem+json");
        assertThat((String) answer.json().get("detail"))
                .contains(what, remedy, "ratelimit.redis.key-prefix")
                .doesNotContain("WRONGTYPE", "ERR", "alice");
    }

    private static String text(Object reply) {
        return reply instanceof byte[] bytes ? new String(bytes, StandardCharsets.UTF_8) : String.valueOf(reply);
    }
}
