package io.ratelimit.testing.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Compares the signatures of a module's API with those stored in {@code src/test/api/signatures.txt}.
 * {@code -Dratelimit.test.write-signatures=true} stores them anew.
 */
public abstract class AbstractApiTests {

    private static final Path STORED = Path.of("src", "test", "api", "signatures.txt");

    @Test
    void apiHasTheStoredSignatures() throws IOException {
        List<String> now = ApiSignatures.in(Path.of("target", "classes"));
        if (Boolean.getBoolean("ratelimit.test.write-signatures")) {
            Files.createDirectories(STORED.getParent());
            Files.write(STORED, now);
        }
        List<String> stored = Files.readAllLines(STORED);

        assertThat(difference(stored, now))
                .as(
                        "The API is no longer that of %s (- stored, + now). Where that is meant, store it anew with %s",
                        STORED, "-Dratelimit.test.write-signatures=true (docs/building.md, \"The API\")")
                .isEmpty();
        assertThat(now).isNotEmpty();
    }

    static String difference(List<String> stored, List<String> now) {
        StringBuilder difference = new StringBuilder();
        stored.stream()
                .filter(line -> !now.contains(line))
                .forEach(line -> difference.append("\n- ").append(line));
        now.stream()
                .filter(line -> !stored.contains(line))
                .forEach(line -> difference.append("\n+ ").append(line));
        return difference.toString();
    }
}
