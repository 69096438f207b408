package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.autoconfigure.properties.RateLimitProperties;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.mock.env.MockEnvironment;

/**
 * What a reader sees first. Tests of the sample compare the rejection with its answer, those of the benchmarks the rows in which
 * it is ahead.
 */
class ReadmeTests {

    private static final MarkdownPage README = MarkdownPage.of("README.md");

    /** As the page of the sample and that for contributors have them. */
    @Test
    void firstScreenHasARejectionAndTheCommandsThatStartTheSampleAndBuild() {
        List<String> commands = List.of("./mvnw -T1 spring-boot:run -pl sample-app -am -Dquick", "./mvnw verify");
        assertThat(README.text().lines().limit(40)).contains("HTTP/1.1 429").containsAll(commands);
        assertThat(MarkdownPage.of("docs/getting-started.md").text().lines()).contains(commands.get(0));
        assertThat(MarkdownPage.of("CONTRIBUTING.md").text()).contains("\n" + commands.get(1) + " ");
    }

    @Test
    void sixAdvantagesHaveANumberEach() {
        assertThat(advantages()).hasSize(6).allMatch(line -> line.matches("- \\*\\*[^*]*\\d.*"));
    }

    @Test
    void callWaitsForRedisAsLongAsTheReadmeSays() {
        long millis = Binder.get(new MockEnvironment())
                .bindOrCreate("ratelimit", RateLimitProperties.class)
                .redis()
                .timeout()
                .toMillis();
        assertThat(advantages()).anyMatch(line -> line.startsWith("- **" + millis + " ms** is what a call waits"));
    }

    @Test
    void moreThanAHundredMistakesStopTheStartUp() {
        String page = MarkdownPage.of("docs/troubleshooting.md").text();
        String failures =
                page.substring(page.indexOf("\n## Start-up failures"), page.indexOf("\n## Failures of a call"));
        assertThat(advantages()).anyMatch(line -> line.startsWith("- **More than 100 mistakes**"));
        assertThat(failures.lines().filter(line -> line.startsWith("| `"))).hasSizeGreaterThan(100);
    }

    private static List<String> advantages() {
        return README.text()
                .lines()
                .dropWhile(line -> !line.equals("## Why this one"))
                .takeWhile(line -> !line.equals("## Features"))
                .filter(line -> line.startsWith("- "))
                .toList();
    }
}
