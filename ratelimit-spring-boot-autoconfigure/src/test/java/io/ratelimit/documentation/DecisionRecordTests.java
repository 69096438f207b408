package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A record of a decision is at most half a page, as the first record says. */
class DecisionRecordTests {

    private static final int MOST_WORDS = 400;

    /** Have a line for each dependency, and a cell for each pair of features. */
    private static final List<String> LONGER =
            List.of("docs/adr/0009-dependencies.md", "docs/adr/0065-what-combines.md");

    @Test
    void recordsAreHalfAPage() {
        List<MarkdownPage> records = MarkdownPage.all().stream()
                .filter(page -> page.toString().startsWith("docs/adr/"))
                .filter(page -> !LONGER.contains(page.toString()))
                .toList();
        assertThat(records)
                .hasSizeGreaterThan(50)
                .allSatisfy(
                        page -> assertThat(words(page)).as("words of %s", page).isLessThanOrEqualTo(MOST_WORDS));
    }

    private static int words(MarkdownPage page) {
        return page.text().strip().split("\\s+").length;
    }
}
