package io.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.documentation.MarkdownPage;
import io.ratelimit.documentation.MarkdownPage.Snippet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Snippets of the documentation that use this module are parts of its tests, which run; those on algorithms, of tests of the sample. */
class TestingPageTests {

    @Test
    void everySnippetIsPartOfATest() throws IOException {
        List<Snippet> snippets = MarkdownPage.guides().stream()
                .flatMap(page -> page.snippets().stream())
                .filter(snippet -> !snippet.text().contains("RateLimitAlgorithmContract"))
                .filter(snippet -> snippet.text().contains("import io.ratelimit.test.")
                        || snippet.text().contains("import static io.ratelimit.test."))
                .toList();
        assertThat(snippets).hasSizeGreaterThanOrEqualTo(2);
        try (Stream<Path> files = Files.walk(Path.of("src/test"))) {
            List<String> sources = files.filter(file -> file.toString().matches(".*\\.(java|kt)"))
                    .map(TestingPageTests::read)
                    .toList();
            assertThat(snippets)
                    .allSatisfy(snippet -> assertThat(sources)
                            .as("%s", snippet)
                            .anyMatch(source -> code(source).contains(code(snippet.text()))
                                    && imports(snippet.text()).allMatch(line -> isImported(line, source))));
        }
    }

    /** The code without imports and without the layout. */
    private static String code(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
                .collect(Collectors.joining("\n"));
    }

    /** A type of the same package needs no import. */
    private static boolean isImported(String line, String source) {
        String ofPackage = line.replaceAll("import (static )?([\\w.]+)\\.\\w+;", "package $2;");
        return source.contains(line) || source.startsWith(ofPackage);
    }

    private static Stream<String> imports(String text) {
        return text.lines().filter(line -> line.startsWith("import "));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
