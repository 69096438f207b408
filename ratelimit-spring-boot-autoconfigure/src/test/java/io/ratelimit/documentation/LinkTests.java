package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LinkTests {

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

    /** No reader finds a page that nothing links to. */
    @Test
    void readmeLinksToEveryGuide() {
        MarkdownPage readme = MarkdownPage.of("README.md");
        assertThat(readme.links().stream().map(link -> link.replaceFirst("#.*", "")))
                .containsAll(MarkdownPage.guides().stream()
                        .map(MarkdownPage::toString)
                        // The pages of their topics link to recipes.
                        .filter(path -> !path.equals("README.md") && !path.startsWith("docs/recipes/"))
                        .toList());
    }

    /** As the page of the sample and that for contributors have them. */
    @Test
    void readmeBeginsWithTheCommandsThatStartTheSampleAndBuild() {
        List<String> commands = List.of("./mvnw -T1 spring-boot:run -pl sample-app -am -Dquick", "./mvnw verify");
        assertThat(MarkdownPage.of("README.md").text().lines().limit(30)).containsAll(commands);
        assertThat(MarkdownPage.of("docs/getting-started.md").text().lines()).contains(commands.get(0));
        assertThat(MarkdownPage.of("CONTRIBUTING.md").text()).contains("\n" + commands.get(1) + " ");
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
