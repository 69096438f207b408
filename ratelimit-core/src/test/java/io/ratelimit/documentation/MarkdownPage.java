package io.ratelimit.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One Markdown file of the project.
 *
 * @param path relative to the root of the project
 */
public record MarkdownPage(Path path, String text) {

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    private static final Pattern LINE =
            Pattern.compile("(?m)^(?:(?<fence>```)(?<language>\\w*)|#{1,6} +(?<title>.*))$");

    private static final Pattern CODE = Pattern.compile("(?s)(?<!`)`([^`\\n]+(?:\\n[^`\\n]+)?)`(?!`)");

    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\((?<target>[^)\\s]+)\\)");

    public static MarkdownPage of(String path) {
        try {
            return new MarkdownPage(Path.of(path), Files.readString(ROOT.resolve(path)));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The pages for users: the README and what is directly in {@code docs}. */
    public static List<MarkdownPage> guides() {
        return Stream.of(Stream.of("README.md"), files("docs", 1), files("docs/recipes", 1))
                .flatMap(paths -> paths)
                .map(MarkdownPage::of)
                .toList();
    }

    /** Every page of the project. */
    static List<MarkdownPage> all() {
        return Stream.of(files(".", 1), files("docs", 3), files("benchmarks", 1), files("examples", 2))
                .flatMap(paths -> paths)
                .map(MarkdownPage::of)
                .toList();
    }

    private static Stream<String> files(String directory, int depth) {
        try (Stream<Path> found = Files.walk(ROOT.resolve(directory), depth)) {
            return found
                    .map(file -> ROOT.relativize(file.normalize()).toString())
                    .filter(file -> file.endsWith(".md"))
                    .sorted()
                    .toList()
                    .stream();
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    static boolean exists(Path path) {
        return Files.exists(ROOT.resolve(path));
    }

    /** The fenced blocks, in their order. */
    public List<Snippet> snippets() {
        List<Snippet> snippets = new ArrayList<>();
        int heading = 0;
        MatchResult start = null;
        Matcher matcher = LINE.matcher(text);
        while (matcher.find()) {
            if (matcher.group("fence") != null) {
                if (start != null) {
                    snippets.add(
                            new Snippet(this, lineAt(start.start()), heading, start.group(2), between(start, matcher)));
                }
                start = start == null ? matcher.toMatchResult() : null;
            } else if (start == null) {
                heading = lineAt(matcher.start());
            }
        }
        return snippets;
    }

    private String between(MatchResult start, Matcher end) {
        return text.substring(Math.min(start.end() + 1, end.start()), end.start());
    }

    private int lineAt(int position) {
        return 1
                + (int) text.substring(0, position)
                        .chars()
                        .filter(c -> c == '\n')
                        .count();
    }

    /** The text without its fenced blocks. */
    String prose() {
        StringBuilder prose = new StringBuilder();
        boolean fenced = false;
        for (String line : text.split("\n", -1)) {
            boolean fence = line.strip().startsWith("```");
            prose.append(fenced || fence ? "" : line).append('\n');
            fenced ^= fence;
        }
        return prose.toString();
    }

    /** What is written between single backticks. */
    List<String> code() {
        return CODE.matcher(prose())
                .results()
                .map(code -> code.group(1).replace('\n', ' '))
                .toList();
    }

    List<String> links() {
        return LINK.matcher(CODE.matcher(prose()).replaceAll("code"))
                .results()
                .map(link -> link.group(1))
                .toList();
    }

    /** The names by which a link reaches the headings, made as GitHub makes them. */
    Set<String> anchors() {
        return prose().lines()
                .filter(line -> line.matches("#{1,6} .*"))
                .map(line -> line.replaceFirst("#+ +", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1")
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .strip()
                        .replace(' ', '-'))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Override
    public String toString() {
        return path.toString();
    }

    /**
     * A fenced block.
     *
     * @param line where it begins
     * @param heading the line of the heading that it is under
     * @param language as written behind the fence
     */
    public record Snippet(MarkdownPage page, int line, int heading, String language, String text) {

        /** Snippets of one section belong together. */
        String section() {
            return page.path + ":" + heading;
        }

        String place() {
            return page.path + ":" + line;
        }

        boolean is(String... languages) {
            return List.of(languages).contains(language);
        }

        @Override
        public String toString() {
            return place();
        }
    }
}
