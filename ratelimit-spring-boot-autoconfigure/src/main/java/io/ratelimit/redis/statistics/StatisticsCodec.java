package io.ratelimit.redis.statistics;

import io.ratelimit.statistics.CallCounts;
import io.ratelimit.statistics.InstanceFigures;
import io.ratelimit.statistics.InstanceState;
import io.ratelimit.statistics.Publication;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Writes and reads what is stored in Redis: lines of words, which the scripts read, too. Words that are new are ignored. */
final class StatisticsCodec {

    private static final Pattern COUNTS = Pattern.compile("(?m)^(\\w+) (\\d+)(?: (\\d+))?(?: (\\d+))?(?: (\\d+))?");

    /** What the script writes before the note: when the instance was seen, and the number of its last counts. */
    private static final Pattern NOTE = Pattern.compile("(\\d+) \\d+ (\\d+) ([a-z-]+) ([a-z_-]+) (\\S+).*\\n((?s:.*))");

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
        counts.forEach((limit, count) -> {
            lines.append(limit).append(' ').append(count.allowed());
            if (count.rejected() + count.dryRunRejected() + count.refused() > 0) {
                lines.append(' ').append(count.rejected());
            }
            if (count.dryRunRejected() + count.refused() > 0) {
                lines.append(' ').append(count.dryRunRejected());
            }
            if (count.refused() > 0) {
                lines.append(' ').append(count.refused());
            }
            lines.append('\n');
        });
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
        return line.group(group) == null ? 0 : Long.parseLong(line.group(group));
    }
}
