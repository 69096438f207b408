package io.ratelimit.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.actuate.EndpointApplication.Answer;
import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import io.ratelimit.testing.LongRunning;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.json.JsonParserFactory;

/** The requests of the page, in their order, are answered as it shows. */
@LongRunning
class EndpointPageTests {

    private static final Pattern CURL = Pattern.compile(
            "curl -s (?:-X (?<method>\\w+) )?'?http://localhost:8080/actuator/ratelimits(?<path>[^' \\n]*)'?"
                    + "(?:[^\\n]*\\\\\\n *-d '(?<body>[^']*)')?");

    @Test
    void requestsAreAnsweredAsDocumented() {
        int compared = 0;
        try (EndpointApplication application = new EndpointApplication(
                WebApplicationType.SERVLET,
                EndpointApplication.Documented.class,
                "management.endpoint.ratelimits.access=unrestricted")) {
            Answer last = null;
            for (Snippet snippet : MarkdownPage.of("docs/endpoint.md").snippets()) {
                if (snippet.language().equals("shell")) {
                    for (MatchResult call :
                            CURL.matcher(snippet.text()).results().toList()) {
                        String method = call.group(1) == null ? "GET" : call.group(1);
                        last = application.send(method, call.group(2), call.group(3));
                        assertThat(last.status()).as(last.body()).isEqualTo(200);
                    }
                } else if (snippet.language().equals("json") && last != null) {
                    assertMatches(expected(snippet.text()), last.json(), snippet.toString());
                    compared++;
                }
            }
        }
        assertThat(compared).isEqualTo(3);
    }

    private static Map<String, Object> expected(String documented) {
        return JsonParserFactory.getJsonParser()
                .parseMap(documented
                        .replace("\"redis\", \"state\": \"shared\"", "\"in-memory\", \"state\": \"instance\"")
                        .replace("com.acme.Quotes", EndpointApplication.Documented.class.getName()));
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
