package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.test.web.servlet.client.EntityExchangeResult;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/** The commands of the page, in their order, on two instances that share a Redis, have the documented effects. */
class OnCallPageTests {

    private static final Pattern CURL = Pattern.compile("curl -si? (?:-X (?<method>\\w+) )?'?http://localhost:"
            + "(?<port>808[01])(?<path>/[^' \\n]*)'?(?:[^\\n]*\\\\\\n *-d '(?<body>[^']*)')?");

    /** The second instance hears of a change within a second, on a machine that has nothing else to do. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void commandsHaveTheDocumentedEffects() {
        String keyPrefix = Sample.newKeyPrefix();
        int compared = 0;
        try (Sample first = Sample.startOnSharedRedis(keyPrefix);
                Sample second = Sample.startOnSharedRedis(keyPrefix)) {
            MatchResult last = null;
            EntityExchangeResult<String> answer = null;
            for (Snippet snippet : MarkdownPage.of("docs/on-call.md").snippets()) {
                if (snippet.language().equals("shell")) {
                    for (MatchResult call :
                            CURL.matcher(snippet.text()).results().toList()) {
                        last = call;
                        answer = send(call, first, second);
                        assertThat(answer.getStatus().value())
                                .as(call.group())
                                .isIn(call.group(3).startsWith("/actuator/") ? Set.of(200) : Set.of(200, 429));
                    }
                } else if (last != null && answer != null && isAnswer(snippet)) {
                    MatchResult call = last;
                    EntityExchangeResult<String> now = answer;
                    if (call.group(2).equals("8080")) {
                        assertAnswers(now, snippet);
                    } else {
                        await().atMost(PATIENCE).untilAsserted(() -> assertAnswers(send(call, first, second), snippet));
                    }
                    compared++;
                }
            }
        }
        assertThat(compared).isEqualTo(14);
    }

    /** What Redis and applications print in an outage is no answer of these two. */
    private static boolean isAnswer(Snippet snippet) {
        return snippet.language().equals("json") || snippet.text().startsWith("HTTP/1.1 ");
    }

    private static EntityExchangeResult<String> send(MatchResult call, Sample first, Sample second) {
        Sample sample = call.group(2).equals("8080") ? first : second;
        String uri = call.group(3);
        ResponseSpec response = switch (call.group(1) == null ? "GET" : call.group(1)) {
            case "POST" -> call.group(4) == null ? sample.post(uri) : sample.post(uri, call.group(4));
            case "DELETE" -> sample.delete(uri);
            default -> sample.get(uri);
        };
        return response.expectBody(String.class).returnResult();
    }

    private static void assertAnswers(EntityExchangeResult<String> answer, Snippet snippet) {
        if (snippet.language().equals("json")) {
            assertThat(answer.getStatus().value()).as(answer.getResponseBody()).isEqualTo(200);
            assertMatches(json(snippet.text()), json(answer.getResponseBody()), snippet.toString());
        } else {
            assertThat("HTTP/1.1 " + answer.getStatus().value())
                    .as(answer.getResponseBody())
                    .isEqualTo(snippet.text().strip());
        }
    }

    private static Map<String, Object> json(String text) {
        return JsonParserFactory.getJsonParser().parseMap(text);
    }

    /** The documented fields are there with these values; {@code …} stands for any. */
    @SuppressWarnings("unchecked")
    private static void assertMatches(Map<String, Object> expected, Map<String, Object> actual, String place) {
        expected.forEach((name, value) -> {
            assertThat(actual).as(place).containsKey(name);
            if (value instanceof Map && !((Map<?, ?>) value).isEmpty()) {
                assertMatches((Map<String, Object>) value, (Map<String, Object>) actual.get(name), place + " " + name);
            } else if (!"…".equals(value)) {
                assertThat(actual.get(name)).as(place + " " + name).isEqualTo(value);
            }
        });
    }
}
