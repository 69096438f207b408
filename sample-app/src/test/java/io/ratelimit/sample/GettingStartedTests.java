package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.annotation.RateLimited;
import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.time.Duration;
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
            Pattern.compile("curl (?:-si? )?(?<post>-X POST )?'?http://localhost:808(?<port>[01])(?<uri>/[^' \\n]*)'?"
                    + "(?:[^\\n]*(?:\\\\\\n *)?-d '(?<body>[^']*)')?");

    private static final MarkdownPage README = MarkdownPage.of("README.md");

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
        List<MatchResult> calls = calls(PAGE);
        assertThat(calls).hasSizeGreaterThan(11);
        calls.forEach(call -> send(call, sample).expectStatus().isOk());
    }

    /** It is of an application of the reader, whose limit has the name of one of the sample. */
    @Test
    void curlOfTheReadmeChangesALimitOfTwoInstances() {
        String keyPrefix = Sample.newKeyPrefix();
        try (Sample one = Sample.startOnSharedRedis(keyPrefix);
                Sample other = Sample.startOnSharedRedis(keyPrefix)) {
            List<MatchResult> calls = calls(README);
            assertThat(calls).hasSize(1);
            send(calls.get(0), one).expectStatus().isOk();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(json(body(other.get("/actuator/ratelimits/quotes"))))
                            .containsEntry("capacity", 50));
        }
    }

    /** Returns all calls of a page in their order. None may be left out because it is written in another way. */
    private static List<MatchResult> calls(MarkdownPage page) {
        List<String> commands = page.snippets().stream()
                .filter(snippet -> snippet.language().equals("shell"))
                .map(Snippet::text)
                .toList();
        List<MatchResult> calls =
                commands.stream().flatMap(text -> CURL.matcher(text).results()).toList();
        assertThat(calls).hasSize((int) commands.stream()
                .flatMap(text -> Pattern.compile("\\bcurl ").matcher(text).results())
                .count());
        return calls;
    }

    private static ResponseSpec send(MatchResult call, Sample sample) {
        String uri = call.group(3);
        if (call.group(1) == null) {
            return sample.get(uri);
        }
        return call.group(4) == null ? sample.post(uri) : sample.post(uri, call.group(4));
    }

    /** To the letter. After at least five calls, because on a slow machine permits come back meanwhile. */
    @Test
    void rejectionIsThatOfTheReadme() {
        String[] documented = snippet(README, "HTTP/1.1 429").text().split("\n\n", 2);
        ResponseSpec response = sample.quote("alicia");
        while (response.returnResult().getStatus().is2xxSuccessful()) {
            response = sample.quote("alicia");
        }

        for (String field : documented[0].lines().skip(1).toList()) {
            String[] nameAndValue = field.split(": ", 2);
            response.expectHeader().valueEquals(nameAndValue[0], nameAndValue[1]);
        }
        assertThat(body(response)).isEqualTo(documented[1].strip());
    }

    /** The annotation of the README is that of the sample, whose answer it shows. */
    @Test
    void annotationIsThatOfTheReadme() throws NoSuchMethodException {
        RateLimited annotation =
                QuoteController.class.getDeclaredMethod("quote", String.class).getAnnotation(RateLimited.class);

        assertThat(snippet(README, "import io.ratelimit.annotation").text())
                .contains("@RateLimited(name = \"%s\", capacity = %d, rate = \"%s\", keyExpression = \"%s\")"
                        .formatted(
                                annotation.name(),
                                annotation.capacity(),
                                annotation.rate(),
                                annotation.keyExpression()));
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
