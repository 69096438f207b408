package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiterRegistry;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;

/** Each answer takes 800 tokens, from an estimate of 500. The rate is so slow that nothing comes back while a test runs. */
class AssistantTests {

    private static Sample sample;

    @BeforeAll
    static void start() {
        sample = Sample.startOnSharedRedis(Sample.newKeyPrefix(), "ratelimit.limits.tokens.rate=2000/d");
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void answersCostTheirTokens() {
        for (long left : new long[] {1_200, 400}) {
            sample.post("/api/questions?user=alice&question=why")
                    .expectStatus()
                    .isOk()
                    .expectBody()
                    .jsonPath("$.text")
                    .isEqualTo("42");
            awaitTokens("alice", left);
        }
        sample.post("/api/questions?user=alice&question=why")
                .expectStatus()
                .isEqualTo(HttpStatus.TOO_MANY_REQUESTS)
                .expectBody()
                .jsonPath("$['violated-policies'][0]")
                .isEqualTo("tokens");
    }

    @Test
    void streamedAnswerCostsItsTokens() {
        String streamed = sample.postFor("/api/questions?user=bob&question=why", MediaType.TEXT_EVENT_STREAM)
                .expectStatus()
                .isOk()
                .expectBody(String.class)
                .returnResult()
                .getResponseBody();
        assertThat(streamed).contains("data:4", "data:2");
        awaitTokens("bob", 1_200);
    }

    private static void awaitTokens(String user, long left) {
        await().untilAsserted(() -> assertThat(sample.bean(RateLimiterRegistry.class)
                        .get("tokens")
                        .peek(user)
                        .remaining())
                .isEqualTo(left));
    }
}
