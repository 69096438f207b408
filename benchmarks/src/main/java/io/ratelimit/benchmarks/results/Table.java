package io.ratelimit.benchmarks.results;

import java.util.Collections;
import java.util.List;

/** A table of Markdown: the first column to the left, numbers to the right. */
final class Table {

    private final StringBuilder text = new StringBuilder();

    private int rows;

    Table(String... columns) {
        append(columns);
        text.append("|---|")
                .append(String.join("|", Collections.nCopies(columns.length - 1, "---:")))
                .append("|\n");
    }

    void row(String... cells) {
        append(cells);
        rows++;
    }

    boolean isEmpty() {
        return rows == 0;
    }

    private void append(String... cells) {
        text.append("| ").append(String.join(" | ", List.of(cells))).append(" |\n");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
