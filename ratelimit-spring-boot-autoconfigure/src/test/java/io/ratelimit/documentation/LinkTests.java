package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LinkTests {

    private static final Pattern ALERT = Pattern.compile("(?m)^ *- alert: (\\w+)");

    private static final Pattern RUNBOOK = Pattern.compile("(?m)^ *runbook_url: (\\S+)");

    @Test
    void everyLinkLeadsToAFileAndAHeading() {
        List<String> broken = new ArrayList<>();
        for (MarkdownPage page : MarkdownPage.all()) {
            for (String link : page.links()) {
                if (!link.matches("[a-z]+:.*") && !resolves(page, link)) {
                    broken.add(page + " -> " + link);
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    /** No reader finds a page that nothing links to. The README has the topics, whose pages link to those of single tasks. */
    @Test
    void everyGuideIsTwoLinksFromReadme() {
        Set<String> topics = guidesBehind(MarkdownPage.of("README.md"));
        Set<String> reached = new TreeSet<>(topics);
        reached.add("README.md");
        topics.forEach(topic -> reached.addAll(guidesBehind(MarkdownPage.of(topic))));
        assertThat(reached)
                .containsAll(MarkdownPage.guides().stream()
                        .map(MarkdownPage::toString)
                        .toList());
    }

    private static Set<String> guidesBehind(MarkdownPage page) {
        Set<String> guides =
                MarkdownPage.guides().stream().map(MarkdownPage::toString).collect(Collectors.toSet());
        return page.links().stream()
                .map(link -> page.path()
                        .resolveSibling(link.replaceFirst("#.*", ""))
                        .normalize()
                        .toString())
                .filter(guides::contains)
                .collect(Collectors.toSet());
    }

    /** Each alert of Prometheus leads to a section of the page for the engineer on call, which names it. */
    @Test
    void everyAlertLinksToASection() {
        String alerts = MarkdownPage.of("monitoring/alerts.yml").text();
        List<String> names = found(ALERT, alerts);
        List<String> sections = found(RUNBOOK, alerts);
        assertThat(names).isNotEmpty().hasSameSizeAs(sections);
        assertThat(sections).allMatch(section -> resolves(MarkdownPage.of("README.md"), section));
        for (int i = 0; i < names.size(); i++) {
            String anchor = sections.get(i).substring(sections.get(i).indexOf('#'));
            assertThat(MarkdownPage.of("docs/on-call.md").text().lines())
                    .anyMatch(row("`" + names.get(i) + "`", "(" + anchor + ")"));
        }
    }

    private static Predicate<String> row(String name, String link) {
        return line -> line.startsWith("|") && line.contains(name) && line.contains(link);
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(match -> match.group(1)).toList();
    }

    private static boolean resolves(MarkdownPage page, String link) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty()
                ? page.path()
                : page.path().resolveSibling(parts[0]).normalize();
        if (!MarkdownPage.exists(target)) {
            return false;
        }
        return parts.length == 1 || MarkdownPage.of(target.toString()).anchors().contains(parts[1]);
    }
}
