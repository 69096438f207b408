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
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Pages, Javadoc, comments and messages are short, name the actor and use the field's terms, such as refund. */
class WordingTests {

    /** In these sections of the site, readers look something up. They have as many words as they need. */
    private static final Set<String> UNBOUNDED = Set.of("Reference", "Decisions");

    /** The words of all other pages, without snippets. Lower it, never raise it. */
    private static final int MOST_WORDS = 30_000;

    /** The words of a page with one task. */
    private static final int MOST_WORDS_OF_GUIDE = 600;

    private static final int LONGEST_CELL = 200;

    private static final Pattern BETWEEN_CELLS = Pattern.compile("(?<!\\\\)\\|");

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
    void pagesAreShortTogether() {
        Map<String, Integer> words = words(section -> !UNBOUNDED.contains(section));
        assertThat(Sidebar.sections()).containsKeys(UNBOUNDED.toArray(String[]::new));
        assertThat(words.values().stream().mapToInt(Integer::intValue).sum())
                .as("words of %s", words)
                .isBetween(MOST_WORDS / 2, MOST_WORDS);
    }

    @Test
    void guidesAndRecipesAreShort() {
        Map<String, Integer> words = words(section -> section.matches("Start|Guides.*|Recipes"));
        words.keySet().removeAll(Set.of("README.md", "docs/comparison.md"));
        assertThat(words).containsKeys("docs/getting-started.md", "docs/costs.md", "docs/recipes/monthly-quota.md");
        words.values().removeIf(count -> count <= MOST_WORDS_OF_GUIDE);
        assertThat(words).isEmpty();
    }

    private static Map<String, Integer> words(Predicate<String> section) {
        Map<String, Integer> words = new TreeMap<>();
        Sidebar.sections().forEach((name, pages) -> {
            if (section.test(name)) {
                pages.forEach(
                        page -> words.put(page.toString(), page.prose().strip().split("\\s+").length));
            }
        });
        return words;
    }

    /** Each is there once. */
    @Test
    void sidebarHasEveryPage() {
        Stream<String> notOfUsers = Stream.of("monitoring/README.md", "site/decisions.md");
        assertThat(Sidebar.sections().values().stream().flatMap(List::stream).map(MarkdownPage::toString))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(MarkdownPage.all().stream().map(MarkdownPage::toString), notOfUsers)
                                .toList());
    }

    @Test
    void cellsOfTablesAreShort() {
        Map<String, List<String>> found = new TreeMap<>();
        for (MarkdownPage page : MarkdownPage.all()) {
            page.prose()
                    .lines()
                    .filter(line -> line.startsWith("|"))
                    .flatMap(BETWEEN_CELLS::splitAsStream)
                    .map(String::strip)
                    .filter(cell -> cell.length() > LONGEST_CELL)
                    .forEach(cell -> found.computeIfAbsent(page.toString(), name -> new ArrayList<>())
                            .add(cell));
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
