package io.ratelimit.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A table of the record of combinations: how many permits the events of the columns leave of a limit with each feature. */
record EventTable(List<List<String>> rows) {

    /** @param corner the text of the first cell */
    static EventTable of(String corner) {
        return new EventTable(MarkdownPage.of("docs/adr/0065-what-combines.md")
                .text()
                .lines()
                .dropWhile(line -> !line.startsWith("| " + corner + " |"))
                .takeWhile(line -> line.startsWith("|"))
                .filter(line -> line.startsWith("| "))
                .map(line -> Stream.of(line.substring(1).split("\\|"))
                        .map(String::strip)
                        .toList())
                .toList());
    }

    void assertHasEachFeature() {
        assertThat(rows.stream().skip(1).map(row -> row.get(0)))
                .containsExactlyInAnyOrderElementsOf(FeatureLimits.features().toList());
        assertThat(rows).allSatisfy(row -> assertThat(row).hasSameSizeAs(rows.get(0)));
    }

    List<String> events() {
        return rows.get(0).subList(1, rows.get(0).size());
    }

    /** Returns the cells of a column by feature. */
    Map<String, String> column(String event) {
        int index = rows.get(0).indexOf(event);
        Map<String, String> cells = new TreeMap<>();
        rows.stream().skip(1).forEach(row -> cells.put(row.get(0), row.get(index)));
        return cells;
    }
}
