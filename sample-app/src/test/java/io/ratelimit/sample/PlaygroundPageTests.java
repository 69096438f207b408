package io.ratelimit.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.http.HttpHeaders;

/** The page at {@code /} as it is sent: true to the code, and with nothing from elsewhere. */
class PlaygroundPageTests {

    private static final List<String> HEADERS =
            List.of("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "Cache-Control");

    private static Sample sample;

    private static String page;

    @BeforeAll
    static void start() {
        sample = Sample.startOnSharedRedis(Sample.newKeyPrefix());
        page = body("/");
    }

    @AfterAll
    static void stop() {
        sample.close();
    }

    @Test
    void showsTheAnnotationsAsTheyAreInTheCode() throws IOException {
        String code;
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            code = withoutWhitespace(sources.filter(Files::isRegularFile)
                    .map(PlaygroundPageTests::read)
                    .toList());
        }

        List<String> shown = all("(?s)<pre class=\"code\"><code>(.*?)</code>");

        assertThat(shown)
                .hasSize(7)
                .allSatisfy(
                        each -> assertThat(code).contains(withoutWhitespace(List.of(each.replaceAll("</?[bi]>", "")))));
    }

    @Test
    void hasABucketForEveryLimit() {
        Object limits = JsonParserFactory.getJsonParser()
                .parseMap(body("/actuator/ratelimits"))
                .get("limits");

        assertThat(limits)
                .asInstanceOf(InstanceOfAssertFactories.map(String.class, Object.class))
                .containsOnlyKeys(all("<div data-limit=\"([^\"]+)\" data-key"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/index.html", "/playground.js", "/playground.css", "/playground.svg"})
    void policyPermitsTheSamplesOwnFilesAlone(String uri) {
        sample.get(uri)
                .expectStatus()
                .isOk()
                .expectHeader()
                .valueEquals("X-Content-Type-Options", "nosniff")
                .expectHeader()
                .value(
                        "Content-Security-Policy",
                        policy -> assertThat(policy)
                                .startsWith("default-src 'none';")
                                .doesNotContain("unsafe", "http", "*"));
    }

    /** Each file is sent like the dashboard's. */
    @ParameterizedTest
    @ValueSource(strings = {"/", "/index.html", "/playground.js", "/playground.css", "/playground.svg"})
    void hasTheHeadersOfTheDashboard(String uri) {
        HttpHeaders dashboard =
                sample.get("/ratelimits").expectBody().returnResult().getResponseHeaders();
        HttpHeaders playground = sample.get(uri).expectBody().returnResult().getResponseHeaders();

        assertThat(HEADERS)
                .allSatisfy(name ->
                        assertThat(playground.get(name)).as(name).isNotNull().isEqualTo(dashboard.get(name)));
    }

    @Test
    void keepsItsPolicy() {
        assertThat(all("<(?:script|link|img)[^>]*(?:src|href)=\"([^\"]*)\""))
                .containsOnly("playground.svg", "playground.css", "playground.js");
        assertThat(page).doesNotContainPattern("<style|\\sstyle=|\\son[a-z]+=|<script(?![^>]*src=)");
        assertThat(body("/playground.css")).doesNotContain("url(", "@import");
        assertThat(body("/playground.js")).doesNotContain("innerHTML", "eval(", "insertAdjacentHTML", "https:");
    }

    private static List<String> all(String pattern) {
        return Pattern.compile(pattern)
                .matcher(page)
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    private static String withoutWhitespace(List<String> texts) {
        return String.join("", texts).replaceAll("\\s", "");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static String body(String uri) {
        return sample.get(uri).expectBody(String.class).returnResult().getResponseBody();
    }
}
