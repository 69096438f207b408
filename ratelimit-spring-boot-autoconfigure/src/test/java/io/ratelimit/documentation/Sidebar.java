package io.ratelimit.documentation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.json.JsonParserFactory;

/** The pages of the site, by section: {@code site/pages.json}, where a folder stands for its pages. */
final class Sidebar {

    private static final Path ROOT = Path.of("..");

    private Sidebar() {}

    static Map<String, List<MarkdownPage>> sections() {
        Map<String, List<MarkdownPage>> sections = new LinkedHashMap<>();
        entries().forEach((section, entries) -> {
            List<MarkdownPage> pages = new ArrayList<>();
            for (Object entry : (List<?>) entries) {
                paths((String) entry).map(MarkdownPage::of).forEach(pages::add);
            }
            sections.put(section, pages);
        });
        return sections;
    }

    private static Map<String, Object> entries() {
        try {
            return JsonParserFactory.getJsonParser().parseMap(Files.readString(ROOT.resolve("site/pages.json")));
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Stream<String> paths(String entry) {
        return entry.endsWith("/")
                ? MarkdownPage.all().stream().map(MarkdownPage::toString).filter(path -> isDirectlyIn(entry, path))
                : Stream.of(entry);
    }

    private static boolean isDirectlyIn(String folder, String path) {
        return path.startsWith(folder) && path.indexOf('/', folder.length()) < 0;
    }
}
