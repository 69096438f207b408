package io.ratelimit.benchmarks.results;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Draws some rows of the results: this starter above the best other library. It reads the page, so chart and page cannot
 * disagree.
 */
public final class Chart {

    private static final List<String> ROWS = List.of(
            "token bucket, 1 thread, 10,000 keys",
            "token bucket, 32 threads, one key",
            "token bucket, 32 threads, 10,000 keys",
            "fixed window, 32 threads, 10,000 keys",
            "sliding window, 32 threads, 10,000 keys",
            "leaky bucket, 32 threads, 10,000 keys",
            "sliding window log, 32 threads, 10,000 keys",
            "two limits on one call, 32 threads, 10,000 keys");

    private static final Pattern VALUE = Pattern.compile("\\*\\*([0-9.,]+)\\*\\*");

    private static final int LABELS = 290;

    private static final int WIDTH = 720;

    private static final int TOP = 40;

    private static final int STEP = 34;

    private static final int BAR = 12;

    /** Room for what stands right of a bar. */
    private static final int NOTES = 170;

    private Chart() {}

    /** Returns the picture of those rows that the page has. */
    public static String svg(String results) {
        List<Bars> bars = bars(results);
        double most = bars.stream()
                .mapToDouble(pair -> Math.max(pair.starter, pair.best))
                .max()
                .orElse(1);
        double scale = (WIDTH - LABELS - NOTES) / Math.max(1, most);
        int height = TOP + STEP * bars.size() + 10;
        StringBuilder svg = new StringBuilder("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12">
                <title>Decisions in Redis: calls in the same time, in multiples of a bare EVALSHA</title>
                <style>
                text { fill: #1f2328 } .note { fill: #59636e } .starter { fill: #1a7f37 } .other { fill: #8c959f } .floor { stroke: #59636e }
                @media (prefers-color-scheme: dark) {
                text { fill: #f0f6fc } .note { fill: #9198a1 } .starter { fill: #3fb950 } .other { fill: #6e7681 } .floor { stroke: #9198a1 }
                }
                </style>
                <text x="0" y="14" font-weight="600">Decisions in Redis, × a bare EVALSHA</text>
                <text x="%d" y="14" class="note">more is better; the line is 1</text>
                """.formatted(WIDTH, height, LABELS));
        double one = LABELS + scale;
        svg.append(String.format(
                Locale.ROOT,
                "<line class=\"floor\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke-dasharray=\"2 3\"/>\n",
                one,
                TOP - 6,
                one,
                height - 10));
        int y = TOP;
        for (Bars pair : bars) {
            svg.append("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>%n"
                    .formatted(LABELS - 8, y + BAR + 3, pair.row));
            bar(svg, y, pair.starter * scale, "starter", Numbers.format(pair.starter) + " this starter");
            bar(svg, y + BAR + 1, pair.best * scale, "other", Numbers.format(pair.best) + " " + pair.library);
            y += STEP;
        }
        return svg.append("</svg>\n").toString();
    }

    private static void bar(StringBuilder svg, int y, double width, String style, String note) {
        svg.append(String.format(
                Locale.ROOT,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>"
                        + "<text class=\"note\" x=\"%.1f\" y=\"%d\" font-size=\"10\">%s</text>\n",
                style,
                LABELS,
                y,
                width,
                BAR,
                LABELS + width + 5,
                y + BAR - 2,
                note));
    }

    private static List<Bars> bars(String results) {
        List<Bars> found = new ArrayList<>();
        List<String> header = List.of();
        for (String line : results.lines().toList()) {
            if (line.startsWith("|  | this starter")) {
                header = cells(line);
            } else if (line.startsWith("| ")) {
                List<String> cells = cells(line);
                if (ROWS.contains(cells.get(0))
                        && cells.size() == header.size()
                        && found.stream().noneMatch(pair -> pair.row.equals(cells.get(0)))) {
                    found.add(bars(header, cells));
                }
            }
        }
        return found;
    }

    /** Of a row: this starter's value comes first, then those of the libraries. */
    private static Bars bars(List<String> header, List<String> cells) {
        String library = "";
        double best = 0;
        for (int column = 2; column < header.indexOf("ahead"); column++) {
            double value = value(cells.get(column));
            if (value > best) {
                best = value;
                library = header.get(column);
            }
        }
        return new Bars(cells.get(0), value(cells.get(1)), best, library);
    }

    private static double value(String cell) {
        Matcher matcher = VALUE.matcher(cell);
        return matcher.find() ? Double.parseDouble(matcher.group(1).replace(",", "")) : 0;
    }

    private static List<String> cells(String line) {
        String[] cells = line.substring(1).split("\\|", -1);
        return Arrays.stream(cells, 0, cells.length - 1).map(String::strip).toList();
    }

    private record Bars(String row, double starter, double best, String library) {}
}
