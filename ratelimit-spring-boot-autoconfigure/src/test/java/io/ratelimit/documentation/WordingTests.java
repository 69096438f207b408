package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pages, Javadoc, comments and messages name the actor and use the field's terms, such as refund. */
class WordingTests {

    private static final Pattern AVOIDED = Pattern.compile(
            "\\b(who|whoever|whom|nobody|likewise|in vain|of which|ours|bears?|giv(e|es|ing|en) back|gave back)\\b",
            Pattern.CASE_INSENSITIVE);

    private static final Pattern CODE = Pattern.compile("`[^`\\n]*`");

    private static final Pattern COMMENT = Pattern.compile("^\\s*(/?\\*|//)");

    @Test
    void pagesAreInPlainWords() {
        List<String> found = new ArrayList<>();
        for (MarkdownPage page : MarkdownPage.all()) {
            // Messages are quoted as they are, or were.
            CODE.matcher(page.prose())
                    .replaceAll("")
                    .lines()
                    .filter(line -> AVOIDED.matcher(line).find())
                    .forEach(line -> found.add(page + ": " + line));
        }
        assertThat(found).isEmpty();
    }

    @Test
    void sourcesAreInPlainWords() throws IOException {
        List<String> found = new ArrayList<>();
        for (String module : List.of(
                "ratelimit-core",
                "ratelimit-redis",
                "ratelimit-spring-boot-autoconfigure",
                "ratelimit-spring-boot-test",
                "ratelimit-spring-boot-dashboard")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main"))) {
                for (Path file : files.filter(path -> path.toString().matches(".*\\.(java|lua)"))
                        .toList()) {
                    Files.readString(file)
                            .lines()
                            .filter(line -> AVOIDED.matcher(line).find())
                            .forEach(line -> found.add(file.getFileName() + ": " + line));
                }
            }
        }
        assertThat(found).isEmpty();
    }

    /** Code may have such names, for what is compared with other libraries. */
    @Test
    void commentsOfTestsAndBenchmarksAreInPlainWords() throws IOException {
        List<String> found = new ArrayList<>();
        int files = 0;
        for (String sources : List.of(
                "ratelimit-core/src/test",
                "ratelimit-redis/src/test",
                "ratelimit-spring-boot-autoconfigure/src/test",
                "ratelimit-spring-boot-test/src/test",
                "ratelimit-spring-boot-dashboard/src/test",
                "sample-app/src",
                "benchmarks/src",
                "acceptance/application/src",
                "acceptance/suite/src")) {
            try (Stream<Path> all = Files.walk(Path.of("..").resolve(sources))) {
                for (Path file : all.filter(path -> path.toString().matches(".*\\.(java|kt)"))
                        .toList()) {
                    files++;
                    Files.readString(file)
                            .lines()
                            .filter(line -> COMMENT.matcher(line).find())
                            .filter(line -> AVOIDED.matcher(line).find())
                            .forEach(line -> found.add(file.getFileName() + ": " + line));
                }
            }
        }
        assertThat(found).isEmpty();
        assertThat(files).isGreaterThan(500);
    }
}
