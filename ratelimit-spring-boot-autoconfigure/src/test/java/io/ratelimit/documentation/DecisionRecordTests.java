package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** A record of a decision is at most half a page, and says what holds today, as the first record says. */
class DecisionRecordTests {

    private static final int MOST_WORDS = 400;

    /** Have a line for each dependency, and a cell for each pair of features. */
    private static final List<String> LONGER =
            List.of("docs/adr/0009-dependencies.md", "docs/adr/0065-what-combines.md");

    /** Lines with which a record would refer to another one that corrects it. */
    private static final Pattern AMENDMENT =
            Pattern.compile("(?m)^(Amend(s|ed by)|Supersede[sd]|Refine[sd]|Adds to) .*\\.md");

    @Test
    void recordsAreHalfAPage() {
        assertThat(records())
                .filteredOn(page -> !LONGER.contains(page.toString()))
                .allSatisfy(
                        page -> assertThat(words(page)).as("words of %s", page).isLessThanOrEqualTo(MOST_WORDS));
    }

    @Test
    void recordsAreRewrittenInsteadOfAmended() {
        assertThat(records())
                .filteredOn(page -> AMENDMENT.matcher(page.text()).find())
                .isEmpty();
    }

    private static List<MarkdownPage> records() {
        List<MarkdownPage> records = MarkdownPage.all().stream()
                .filter(page -> page.toString().startsWith("docs/adr/"))
                .toList();
        assertThat(records).hasSizeGreaterThan(30);
        return records;
    }

    private static int words(MarkdownPage page) {
        return page.text().strip().split("\\s+").length;
    }
}
