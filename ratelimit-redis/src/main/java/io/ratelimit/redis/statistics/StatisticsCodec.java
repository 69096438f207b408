package io.ratelimit.redis.statistics;

import io.ratelimit.internal.statistics.CallCounts;
import io.ratelimit.internal.statistics.InstanceFigures;
import io.ratelimit.internal.statistics.InstanceState;
import io.ratelimit.internal.statistics.KeyCount;
import io.ratelimit.internal.statistics.KeyReport;
import io.ratelimit.internal.statistics.Publication;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes and reads what is stored in Redis: lines of words, which the scripts read, too. Words that are new are ignored, and so
 * is what cannot be read.
 */
final class StatisticsCodec {

    private static final String NUMBER = "(\\d{1,18})";

    /** As URLs encode them. */
    private static final String WORD = "((?:[^\\s%]|%[0-9A-Fa-f]{2})+)";

    private static final Pattern COUNTS = Pattern.compile("(?m)^(\\w+)" + (" " + NUMBER).repeat(4) + "\\b");

    /** What the script writes before the note: when the instance was seen, and the number of its last counts. */
    private static final Pattern NOTE = Pattern.compile(
            NUMBER + " \\d+ " + NUMBER + " ([a-z-]+) ([a-z_-]+) " + WORD + "(?: " + WORD + ")?(?: .*)?\\n((?s:.*))");

    /** What the script writes before a report: when it was made. */
    private static final Pattern REPORT = Pattern.compile("\\d+ " + NUMBER + "\\n((?s:.*))");

    private static final Pattern KEY = Pattern.compile("(?m)^" + WORD + " " + NUMBER + " " + NUMBER + "$");

    private static final String NO_REASON = "-";

    private StatisticsCodec() {}

    /**
     * Returns when the instance has started, its state and name, the servers that fail, and lines with its counts; empty if it
     * leaves.
     */
    static String note(Publication publication) {
        InstanceFigures instance = publication.instance();
        if (instance == null) {
            return "";
        }
        InstanceState state = instance.state();
        return publication.startedMicros() + " " + state.state() + " "
                + (state.reason() == null ? NO_REASON : state.reason()) + " "
                + URLEncoder.encode(instance.name(), StandardCharsets.UTF_8) + servers(state.failingServers()) + "\n"
                + lines(instance.lastMinute());
    }

    static Optional<InstanceFigures> instance(String id, String note) {
        Matcher words = NOTE.matcher(note);
        return words.matches()
                ? Optional.of(new InstanceFigures(
                        id,
                        URLDecoder.decode(words.group(5), StandardCharsets.UTF_8),
                        instant(words.group(2)),
                        instant(words.group(1)),
                        new InstanceState(
                                words.group(3),
                                words.group(4).equals(NO_REASON) ? null : words.group(4),
                                words.group(6) == null
                                        ? List.of()
                                        : List.of(words.group(6).split(","))),
                        counts(words.group(7))))
                : Optional.empty();
    }

    /** Names of servers have no comma, nor anything that would be encoded. */
    private static String servers(List<String> names) {
        return names.isEmpty() ? "" : " " + String.join(",", names);
    }

    private static Instant instant(String micros) {
        return Instant.EPOCH.plus(Long.parseLong(micros), ChronoUnit.MICROS);
    }

    static String lines(Map<String, CallCounts> counts) {
        StringBuilder lines = new StringBuilder();
        counts.forEach((limit, count) -> lines.append(limit + " " + count.allowed() + " " + count.rejected() + " "
                + count.dryRunRejected() + " " + count.refused() + "\n"));
        return lines.toString();
    }

    static Map<String, CallCounts> counts(String lines) {
        Map<String, CallCounts> counts = new HashMap<>();
        Matcher line = COUNTS.matcher(lines);
        while (line.find()) {
            counts.put(
                    line.group(1), new CallCounts(number(line, 2), number(line, 3), number(line, 4), number(line, 5)));
        }
        return counts;
    }

    private static long number(Matcher line, int group) {
        return Long.parseLong(line.group(group));
    }

    /**
     * Returns how often other keys were rejected at most, and a line for each key.
     *
     * @param most the length of these lines; keys that were rejected less often are left out
     */
    static String keys(KeyReport report, int most) {
        StringBuilder lines = new StringBuilder();
        int kept = 0;
        for (KeyCount count : report.counts()) {
            String line = URLEncoder.encode(count.key(), StandardCharsets.UTF_8) + " " + count.rejected() + " "
                    + count.error() + "\n";
            if (lines.length() + line.length() > most) {
                break;
            }
            lines.append(line);
            kept++;
        }
        return report.first(kept).others() + "\n" + lines;
    }

    static Optional<KeyReport> keys(String timeAndReport) {
        Matcher report = REPORT.matcher(timeAndReport);
        if (!report.matches()) {
            return Optional.empty();
        }
        List<KeyCount> counts = new ArrayList<>();
        for (Matcher line = KEY.matcher(report.group(2)); line.find(); ) {
            counts.add(new KeyCount(
                    URLDecoder.decode(line.group(1), StandardCharsets.UTF_8), number(line, 2), number(line, 3)));
        }
        return Optional.of(new KeyReport(counts, number(report, 1)));
    }
}
