package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.Sources;
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

/** The map for contributors names packages, classes and parts of the script that exist. */
class ContributingPageTests {

    private static final Path ACCEPTANCE = Path.of("../acceptance");

    private static final Path TEST_MODULE = Path.of("../ratelimit-spring-boot-test/src/main/java");

    /** A class, and possibly a member of it. Words in capitals, such as Redis' commands, are none. */
    private static final Pattern CLASS =
            Pattern.compile("(?<class>[A-Z]\\w*[a-z]\\w*)(?:\\.(?<member>\\w+)(?:\\(\\))?)?");

    private static final Pattern PACKAGE = Pattern.compile("\\.[a-z]+(?:\\.[a-z]+)*|\\.");

    private final MarkdownPage page = MarkdownPage.of("CONTRIBUTING.md");

    private final MarkdownPage inside = MarkdownPage.of("docs/inside.md");

    private final MarkdownPage building = MarkdownPage.of("docs/building.md");

    private final MarkdownPage compatibility = MarkdownPage.of("COMPATIBILITY.md");

    @Test
    void everyClassExists() throws IOException {
        assertThat(classesIn(page)).isGreaterThan(50);
        assertThat(classesIn(inside)).isGreaterThan(150);
        assertThat(classesIn(building)).isGreaterThan(10);
        assertThat(classesIn(compatibility)).isGreaterThan(10);
    }

    /** Returns how many times the page names a class. */
    private static int classesIn(MarkdownPage page) throws IOException {
        Map<String, Path> sources = sources();
        Set<String> unknown = new TreeSet<>();
        int classes = 0;
        for (String code : page.code()) {
            Matcher named = CLASS.matcher(code);
            if (named.matches()) {
                classes++;
                Path source = sources.get(named.group("class"));
                if (source == null || !mentions(source, named.group("member"))) {
                    unknown.add(code);
                }
            }
        }
        assertThat(unknown).as("names in %s", page).isEmpty();
        return classes;
    }

    @Test
    void everyPartOfTheScriptExists() {
        assertThat(inside.code())
                .filteredOn(code -> code.matches("\\w+\\.lua"))
                .isNotEmpty()
                .allSatisfy(part -> assertThat(Sources.folders("src/main/resources/io/ratelimit/redis"))
                        .anySatisfy(folder -> assertThat(folder.resolve(part)).exists()));
    }

    @Test
    void everyPackageIsListed() {
        Set<String> packages = new TreeSet<>();
        for (Path root : Sources.folders("src/main/java/io/ratelimit")) {
            Sources.files("src/main/java/io/ratelimit").stream()
                    .filter(file -> file.endsWith("package-info.java") && file.startsWith(root))
                    .forEach(file -> packages.add(
                            "." + root.relativize(file.getParent()).toString().replace('/', '.')));
        }
        assertThat(page.code())
                .filteredOn(code -> PACKAGE.matcher(code).matches())
                .containsAll(packages);
    }

    private static boolean mentions(Path source, String member) throws IOException {
        return member == null
                || Pattern.compile("\\b" + member + "\\b")
                        .matcher(Files.readString(source))
                        .find();
    }

    private static Map<String, Path> sources() throws IOException {
        List<Path> files = new ArrayList<>(Sources.files("src/main/java"));
        files.addAll(Sources.files("src/test/java"));
        for (Path root : List.of(ACCEPTANCE, TEST_MODULE)) {
            try (Stream<Path> all = Files.walk(root)) {
                all.filter(Files::isRegularFile).forEach(files::add);
            }
        }
        Map<String, Path> sources = new TreeMap<>();
        files.forEach(file -> sources.put(file.getFileName().toString().replaceFirst("\\.java$", ""), file));
        return sources;
    }
}
