package io.ratelimit.redis.statistics;

import io.ratelimit.statistics.CallCounts;
import io.ratelimit.statistics.InstanceFigures;
import io.ratelimit.statistics.InstanceState;
import io.ratelimit.statistics.KeyCount;
import io.ratelimit.statistics.KeyReport;
import io.ratelimit.statistics.Publication;
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

/** Writes and reads what is stored in Redis: lines of words, which the scripts read, too. Words that are new are ignored. */
final class StatisticsCodec {

    private static final Pattern COUNTS = Pattern.compile("(?m)^(\\w+) (\\d+) (\\d+) (\\d+) (\\d+)");

    /** What the script writes before the note: when the instance was seen, and the number of its last counts. */
    private static final Pattern NOTE = Pattern.compile("(\\d+) \\d+ (\\d+) ([a-z-]+) ([a-z_-]+) (\\S+).*\\n((?s:.*))");

    private static final Pattern KEY = Pattern.compile("(?m)^(\\S+) (\\d+) (\\d+)$");

    private static final String NO_REASON = "-";

    private StatisticsCodec() {}

    /** Returns when the instance has started, its state and name, and lines with its counts; empty if it leaves. */
    static String note(Publication publication) {
        InstanceFigures instance = publication.instance();
        if (instance == null) {
            return "";
        }
        InstanceState state = instance.state();
        return publication.startedMicros() + " " + state.state() + " "
                + (state.reason() == null ? NO_REASON : state.reason()) + " "
                + URLEncoder.encode(instance.name(), StandardCharsets.UTF_8) + "\n" + lines(instance.lastMinute());
    }

    static Optional<InstanceFigures> instance(String id, String note) {
        Matcher words = NOTE.matcher(note);
        return words.matches()
                ? Optional.of(new InstanceFigures(
                        id,
                        URLDecoder.decode(words.group(5), StandardCharsets.UTF_8),
                        instant(words.group(2)),
                        instant(words.group(1)),
                        new InstanceState(words.group(3), words.group(4).equals(NO_REASON) ? null : words.group(4)),
                        counts(words.group(6))))
                : Optional.empty();
    }

    private static Instant instant(String micros) {
        return Instant.EPOCH.plus(Long.parseLong(micros), ChronoUnit.MICROS);
    }

    static String lines(Map<String, CallCounts> counts) {
        StringBuilder lines = new StringBuilder();
        counts.forEach((limit, count) -> lines.append(limit)
                .append(' ')
                .append(count.allowed())
                .append(' ')
                .append(count.rejected())
                .append(' ')
                .append(count.dryRunRejected())
                .append(' ')
                .append(count.refused())
                .append('\n'));
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

    /** Returns how often other keys were rejected at most, and a line for each key. */
    static String keys(KeyReport report) {
        StringBuilder lines = new StringBuilder().append(report.others()).append('\n');
        for (KeyCount count : report.counts()) {
            lines.append(URLEncoder.encode(count.key(), StandardCharsets.UTF_8))
                    .append(' ')
                    .append(count.rejected())
                    .append(' ')
                    .append(count.error())
                    .append('\n');
        }
        return lines.toString();
    }

    /** Reads a report, with the time that the script has written before it. */
    static KeyReport keys(String timeAndReport) {
        String[] lines = timeAndReport.split("\n", -1);
        List<KeyCount> counts = new ArrayList<>();
        for (Matcher line = KEY.matcher(timeAndReport); line.find(); ) {
            counts.add(new KeyCount(
                    URLDecoder.decode(line.group(1), StandardCharsets.UTF_8), number(line, 2), number(line, 3)));
        }
        String[] head = lines[0].split(" ", -1);
        return new KeyReport(counts, Long.parseLong(head[head.length - 1]));
    }
}
