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
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The map for contributors and its pages name what exists, where it is, and every package and class. */
class ContributingPageTests {

    private static final Path PACKAGE = Path.of("io/ratelimit");

    private static final Path MAIN = Path.of("src/main/java").resolve(PACKAGE);

    private static final Path TESTS = Path.of("src/test/java").resolve(PACKAGE);

    private static final Path ACCEPTANCE = Path.of("../acceptance");

    private static final Path TEST_MODULE =
            Path.of("../ratelimit-spring-boot-test").resolve(MAIN);

    private static final Path SCRIPT =
            Path.of("src/main/resources").resolve(PACKAGE).resolve("redis");

    /** A class, and possibly a member of it. Words in capitals, such as Redis' commands, are none. */
    private static final Pattern CLASS =
            Pattern.compile("(?<class>[A-Z]\\w*[a-z]\\w*)(?:\\.(?<member>\\w+)(?:\\(\\))?)?");

    private static final Pattern PACKAGE_ROW = Pattern.compile("(?m)^\\| `\\.([a-z.]*)` \\| .* \\| (.*) \\|$");

    /** The part of the page whose tables name a class behind its package. */
    private static final Pattern PLACES = Pattern.compile("(?s)\n## Where is …\n(.*?)\n## ");

    /** A row of these tables, with the cell that has the classes. */
    private static final Pattern PLACE = Pattern.compile("(?m)^\\| .* \\| ([^|]*) \\|$");

    /** Where the classes of a package or of another module begin, or a class. */
    private static final Pattern PLACED = Pattern.compile(
            "root: |`\\.(?<package>[a-z.]+)`: |(?<module>module `)|`(?<class>[A-Z]\\w*[a-z]\\w*)(?:\\.\\w+)?`");

    private final MarkdownPage page = MarkdownPage.of("CONTRIBUTING.md");

    private final MarkdownPage building = MarkdownPage.of("docs/building.md");

    private final MarkdownPage index = MarkdownPage.of("docs/classes.md");

    @Test
    void everyClassExists() throws IOException {
        assertThat(classesIn(page)).isGreaterThan(300);
        assertThat(classesIn(building)).isGreaterThan(15);
        assertThat(classesIn(index)).isGreaterThan(400);
    }

    /** Returns how many times the page names a class. */
    private static int classesIn(MarkdownPage page) throws IOException {
        Map<String, Path> sources = sources(MAIN);
        sources.putAll(sources(TESTS));
        sources.putAll(sources(ACCEPTANCE));
        sources.putAll(sources(TEST_MODULE));
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
        assertThat(page.code())
                .filteredOn(code -> code.matches("\\w+\\.lua"))
                .isNotEmpty()
                .allSatisfy(part -> assertThat(SCRIPT.resolve(part)).exists());
    }

    /** A reader opens the package first. */
    @Test
    void everyClassIsInThePackageThatItsRowNames() {
        Matcher places = PLACES.matcher(page.text());
        assertThat(places.find()).isTrue();
        List<String> missing = new ArrayList<>();
        int classes = 0;
        for (MatchResult row : PLACE.matcher(places.group(1)).results().toList()) {
            Path directory = null;
            Matcher placed = PLACED.matcher(row.group(1));
            while (placed.find()) {
                if (placed.group("class") == null) {
                    directory = placed.group("module") != null ? null : directory(placed.group("package"));
                } else if (directory != null) {
                    classes++;
                    Path source = directory.resolve(placed.group("class") + ".java");
                    if (!Files.exists(source)) {
                        missing.add(row.group(1) + " -> " + source);
                    }
                }
            }
        }
        assertThat(missing).isEmpty();
        assertThat(classes).isGreaterThan(200);
    }

    private static Path directory(@Nullable String packageName) {
        return packageName == null ? MAIN : MAIN.resolve(packageName.replace('.', '/'));
    }

    @Test
    void everyPackageIsListedWithClassesOfItsOwn() throws IOException {
        Set<String> listed = new TreeSet<>();
        for (MatchResult row : PACKAGE_ROW.matcher(page.text()).results().toList()) {
            String name = row.group(1);
            listed.add(name);
            Path directory = MAIN.resolve(name.replace('.', '/'));
            assertThat(Pattern.compile("`(\\w+)`")
                            .matcher(row.group(2))
                            .results()
                            .map(type -> type.group(1)))
                    .as(name)
                    .hasSizeBetween(Math.min(2, classes(directory)), 8)
                    .allSatisfy(type ->
                            assertThat(directory.resolve(type + ".java")).exists());
        }
        assertThat(listed).isEqualTo(packages());
    }

    private static int classes(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return (int) files.filter(file -> file.toString().endsWith(".java") && !file.endsWith("package-info.java"))
                    .count();
        }
    }

    /** Written anew by {@code -Dratelimit.test.write-class-index=true}: what is below the introduction. */
    @Test
    void everyClassIsInTheIndex() throws IOException {
        String introduction = index.text().substring(0, index.text().indexOf("\n## ") + 1);
        String expected = introduction + ClassIndex.markdown();
        if (Boolean.getBoolean("ratelimit.test.write-class-index")) {
            Files.writeString(Path.of("..").resolve(index.path()), expected);
        } else {
            assertThat(index.text()).isEqualTo(expected);
        }
    }

    private static boolean mentions(Path source, String member) throws IOException {
        return member == null
                || Pattern.compile("\\b" + member + "\\b")
                        .matcher(Files.readString(source))
                        .find();
    }

    private static Map<String, Path> sources(Path root) throws IOException {
        Map<String, Path> sources = new TreeMap<>();
        for (Path file : files(root)) {
            sources.put(file.getFileName().toString().replaceFirst("\\.java$", ""), file);
        }
        return sources;
    }

    private static Set<String> packages() throws IOException {
        Set<String> packages = new TreeSet<>();
        for (Path file : files(MAIN)) {
            if (file.endsWith("package-info.java")) {
                packages.add(MAIN.relativize(file.getParent()).toString().replace('/', '.'));
            }
        }
        return packages;
    }

    private static List<Path> files(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }
}
