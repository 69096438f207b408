package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The functions that docs/kotlin.md shows are compiled, and limited as it says. */
class KotlinPageTests {

    private final ApplicationContextRunner runner =
            LimitedContexts.inMemory().withBean(Quotes.class).withPropertyValues("ratelimit.limits.exports.rate=1/m");

    /** Build files are in Kotlin, too. */
    static boolean isSource(Snippet snippet) {
        return snippet.is("kotlin") && snippet.text().contains("fun ");
    }

    /** Those that use the test kit are compared by its own tests. */
    @Test
    void snippetsAreWhatIsCompiled() throws IOException {
        String source = Files.readString(Path.of("src/test/kotlin/io/ratelimit/documentation/KotlinPage.kt"));
        List<Snippet> snippets = MarkdownPage.guides().stream()
                .flatMap(page -> page.snippets().stream())
                .filter(KotlinPageTests::isSource)
                .filter(snippet -> !snippet.text().contains("import io.ratelimit.test."))
                .toList();
        assertThat(snippets)
                .hasSize(2)
                .allSatisfy(snippet -> assertThat(source)
                        .as("%s", snippet)
                        .contains(lines(snippet, KotlinPageTests::isImport))
                        .contains(lines(snippet, Predicate.not(KotlinPageTests::isImport))));
    }

    @Test
    void fallbackOfSuspendingFunctionAnswersBeyondItsLimit() {
        runner.run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            assertThat(KotlinPage.quote(quotes, "alice").join()).isEqualTo("quote for alice");
            assertThat(KotlinPage.quote(quotes, "alice").join()).isEqualTo("quote for alice");
            assertThat(KotlinPage.quote(quotes, "alice").join()).isEqualTo("stale for alice");
            assertThat(KotlinPage.quote(quotes, "bob").join()).isEqualTo("quote for bob");
        });
    }

    @Test
    void flowIsChargedEachTimeItIsCollected() {
        runner.run(context -> {
            var stream = context.getBean(Quotes.class).stream("alice");
            assertThat(KotlinPage.collect(stream).join()).containsExactly("first for alice", "second for alice");
            assertThat(KotlinPage.collect(stream))
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .havingRootCause()
                    .isInstanceOf(RateLimitExceededException.class);
        });
    }

    @Test
    void codeWaitsForAStage() {
        runner.run(context -> {
            Exports exports = new Exports(context.getBean(RateLimiterRegistry.class));
            assertThat(KotlinPage.export(exports, "acme").join()).isEqualTo("export for acme");
            assertThat(KotlinPage.export(exports, "acme"))
                    .failsWithin(Duration.ofMinutes(1))
                    .withThrowableThat()
                    .havingRootCause()
                    .isInstanceOf(RateLimitExceededException.class);
        });
    }

    private static boolean isImport(String line) {
        return line.startsWith("import ");
    }

    private static String lines(Snippet snippet, Predicate<String> which) {
        return snippet.text()
                .lines()
                .filter(which)
                .collect(Collectors.joining("\n"))
                .strip();
    }
}
