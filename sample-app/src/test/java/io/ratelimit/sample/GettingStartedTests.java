package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.test.web.servlet.client.RestTestClient.ResponseSpec;

/** What the documentation shows of the sample: what is typed into a shell, and the responses. */
class GettingStartedTests {

    private static final Pattern CURL =
            Pattern.compile("curl -\\w+ (?<post>-X POST )?'?http://localhost:8080(?<uri>/[^' \\n]*)");

    private static final MarkdownPage PAGE = MarkdownPage.of("docs/getting-started.md");

    private static final MarkdownPage ENDPOINT = MarkdownPage.of("docs/endpoint.md");

    private static final MarkdownPage OBSERVABILITY = MarkdownPage.of("docs/observability.md");

    private static Sample sample;

    @BeforeAll
    static void start() {
        sample = Sample.start();
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void everyCurlSucceeds() {
        List<MatchResult> calls = PAGE.snippets().stream()
                .filter(snippet -> snippet.language().equals("shell"))
                .flatMap(snippet -> CURL.matcher(snippet.text()).results())
                .toList();

        assertThat(calls).hasSizeGreaterThan(6);
        calls.forEach(call -> {
            String uri = call.group(2);
            ResponseSpec response = call.group(1) == null ? sample.get(uri) : sample.post(uri);
            response.expectStatus().isOk();
        });
    }

    /** After at least five calls, because on a slow machine permits come back meanwhile. */
    @Test
    void rejectionIsTheDocumentedOne() {
        String[] documented = snippet(PAGE, "HTTP/1.1 429").text().split("\n\n", 2);
        ResponseSpec response = sample.quote("alicia");
        while (response.returnResult().getStatus().is2xxSuccessful()) {
            response = sample.quote("alicia");
        }

        for (String field : documented[0].lines().skip(1).toList()) {
            String[] nameAndValue = field.split(": ", 2);
            response.expectHeader().valueEquals(nameAndValue[0], nameAndValue[1]);
        }
        assertThat(json(body(response))).isEqualTo(json(documented[1]));
    }

    @Test
    void endpointAnswersAsDocumented() {
        Map<String, Object> documented =
                new HashMap<>(json(snippet(ENDPOINT, "{\"algorithm\"").text()));
        // The method and its place are those of the page.
        documented.keySet().removeAll(Set.of("methods", "origins"));

        assertThat(json(body(sample.get("/actuator/ratelimits/quotes")))).containsAllEntriesOf(documented);
    }

    @Test
    void documentedMetersAreThere() {
        String scraped = body(sample.get("/actuator/prometheus"));

        assertThat(snippet(OBSERVABILITY, "ratelimit_calls_total").text().lines())
                .allSatisfy(line -> assertThat(scraped).contains(line.replaceFirst(" \\S+$", " ")));
    }

    private static Snippet snippet(MarkdownPage page, String beginning) {
        return page.snippets().stream()
                .filter(snippet -> snippet.text().startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, Object> json(String text) {
        return JsonParserFactory.getJsonParser().parseMap(text);
    }

    private static String body(ResponseSpec response) {
        return response.expectBody(String.class).returnResult().getResponseBody();
    }
}
