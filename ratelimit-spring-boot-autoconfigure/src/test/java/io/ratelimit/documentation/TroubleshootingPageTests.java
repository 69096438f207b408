package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.Sources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The messages that docs/troubleshooting.md explains are those that the code has; {@code …} stands for what varies. */
class TroubleshootingPageTests {

    /** The first column, if it has code. */
    private static final Pattern CELL = Pattern.compile("(?m)^\\| (`[^|]+`) \\|");

    private static final Pattern MESSAGE = Pattern.compile("`([^`]+)`");

    @Test
    void everyMessageIsOneOfTheCode() throws IOException {
        String code = code();
        List<String> unknown = new ArrayList<>();
        List<String> messages = CELL.matcher(
                        MarkdownPage.of("docs/troubleshooting.md").text())
                .results()
                .flatMap(cell -> MESSAGE.matcher(cell.group(1)).results())
                .map(message -> message.group(1))
                .toList();
        for (String message : messages) {
            // One place makes the sentence of a rule: what must be, and what it was.
            List<String> parts = Arrays.stream(message.replaceAll(" \\(was [^)]+\\)\\.|\\bmust |\\.$", "…")
                            .split("…"))
                    .map(String::strip)
                    .filter(part -> part.length() > 1)
                    .toList();
            if (parts.isEmpty() || !parts.stream().allMatch(code::contains)) {
                unknown.add(message);
            }
        }
        assertThat(messages).hasSizeGreaterThan(30);
        assertThat(unknown).isEmpty();
    }

    /** All of it, with texts that are written in several parts put together. */
    private static String code() throws IOException {
        try (Stream<Path> dashboard = Files.walk(Path.of("../ratelimit-spring-boot-dashboard/src/main"))) {
            return Stream.concat(Sources.files("src/main").stream(), dashboard)
                    .filter(file -> file.toString().matches(".*\\.(java|lua)"))
                    .map(TroubleshootingPageTests::read)
                    .collect(Collectors.joining("\n"))
                    .replaceAll("\"\\s*\\+\\s*\"", "")
                    .replace("\\\"", "\"")
                    .replace("''", "'");
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
