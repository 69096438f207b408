package com.example;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.test.AutoConfigureRateLimits;
import io.ratelimit.test.MutableTimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.client.RestClient;

/** Over HTTP, with a clock that the test moves. An answer has an estimate of about 100 tokens, and uses 400. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@AutoConfigureRateLimits
class LlmProxyTests {

    @Value("http://127.0.0.1:${local.server.port}/v1/chat/completions")
    String url;

    @DynamicPropertySource
    static void provider(DynamicPropertyRegistry properties) throws Exception {
        properties.add("provider.url", FakeProvider.start()::toString);
    }

    @Test
    void usersHaveBudgetsByMinuteAndByModelAndDay(@Autowired MutableTimeSource time) {
        for (int answers = 1; answers <= 3; answers++) {
            assertThat(ask("alice", "large")).startsWith("200").contains("42", "total_tokens", "[DONE]");
        }
        assertThat(ask("alice", "large")).startsWith("429, Retry-After 19").contains("[\"user-minute\"]");
        assertThat(ask("bob", "large")).startsWith("200");

        time.advance(Duration.ofMinutes(2));
        assertThat(ask("alice", "large")).startsWith("200");
        assertThat(ask("alice", "large")).startsWith("200");
        assertThat(ask("alice", "large")).startsWith("429").contains("[\"user-model-day\"]");
        assertThat(ask("alice", "small")).startsWith("200");
        assertThat(ask("carol", "small")).startsWith("403");
    }

    private String ask(String user, String model) {
        return RestClient.create(url).post().header("Authorization", "Bearer " + user + "s-key")
                .body(Map.of("model", model, "max_tokens", 100, "messages", List.of(Map.of("content", "Why?"))))
                .exchange((request, response) -> response.getStatusCode().value()
                        + ", Retry-After " + response.getHeaders().getFirst("Retry-After")
                        + ": " + new String(response.getBody().readAllBytes()));
    }
}
