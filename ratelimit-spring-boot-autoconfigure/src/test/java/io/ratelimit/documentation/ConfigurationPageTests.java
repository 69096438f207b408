package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the documentation says about properties is what the configuration metadata say. */
class ConfigurationPageTests {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| (?:`([^`]*)`)?[^|]*\\|");

    private static final Pattern PROPERTY =
            Pattern.compile("(?:ratelimit|spring|management|server|logging)\\.[\\w.<>\\[\\]-]+");

    /** Spring Boot 4 has no Undertow. */
    private static final String OF_SPRING_BOOT_3 = "server.undertow.max-http-post-size";

    @Test
    void everyPropertyIsThereWithItsDefault() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        Matcher row = ROW.matcher(MarkdownPage.of("docs/configuration.md").text());
        while (row.find()) {
            documented.put(row.group(1), row.group(2) == null ? "" : row.group(2));
        }
        Map<String, String> known = new TreeMap<>(KnownProperties.load().ours());
        // The metadata have no defaults of what is under a name.
        known.replaceAll((name, value) -> name.startsWith("ratelimit.limits.") || name.startsWith("ratelimit.http")
                ? documented.getOrDefault(name, "missing")
                : value);
        assertThat(documented).isEqualTo(known);
    }

    @Test
    void noPageNamesAPropertyThatDoesNotExist() throws IOException {
        KnownProperties known = KnownProperties.load();
        Set<String> others = meters();
        others.add(OF_SPRING_BOOT_3);
        List<String> unknown = new ArrayList<>();
        for (MarkdownPage page : MarkdownPage.guides()) {
            for (String code : page.code()) {
                Matcher name = PROPERTY.matcher(code);
                if (name.lookingAt() && !known.contains(name.group()) && !others.contains(name.group())) {
                    unknown.add(page + ": " + code);
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    /** The names of our meters look like properties. */
    private static Set<String> meters() throws IOException {
        Set<String> meters = new TreeSet<>();
        try (Stream<Path> files = Files.walk(Path.of("src/main/java/io/ratelimit/metrics"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Pattern.compile("\"(ratelimit\\.[a-z.]+)\"")
                        .matcher(Files.readString(file))
                        .results()
                        .forEach(meter -> meters.add(meter.group(1)));
            }
        }
        assertThat(meters).contains("ratelimit.calls");
        return meters;
    }
}
