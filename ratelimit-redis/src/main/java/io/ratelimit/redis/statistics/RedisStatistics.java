package io.ratelimit.redis.statistics;

import io.ratelimit.internal.statistics.CallCounts;
import io.ratelimit.internal.statistics.InstanceFigures;
import io.ratelimit.internal.statistics.KeyReport;
import io.ratelimit.internal.statistics.Publication;
import io.ratelimit.internal.statistics.SharedStatistics;
import io.ratelimit.redis.connection.BackgroundCommands;
import io.ratelimit.redis.connection.RedisConnector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.data.redis.core.script.RedisScript;

/** Keeps the figures of all instances in Redis: a key for the instances, and one for each interval. All are in one slot. */
@SuppressWarnings("rawtypes")
public final class RedisStatistics implements SharedStatistics {

    private static final RedisScript<List> PUBLISH = BackgroundCommands.script("add_counts.lua", List.class);

    private static final RedisScript<List> READ = BackgroundCommands.script("read_counts.lua", List.class);

    private static final RedisScript<List> TOP_KEYS = BackgroundCommands.script("top_keys.lua", List.class);

    /** Of the reports of one instance. */
    private static final int MOST_BYTES = 32_768;

    private final String prefix;

    private final BackgroundCommands commands;

    /** @param keyPrefix the prefix of all keys of the starter */
    public RedisStatistics(RedisConnector connector, String keyPrefix) {
        this.prefix = keyPrefix + ":{%statistics}:";
        this.commands = new BackgroundCommands(connector, "figures", "ratelimit-figures", 4, 200);
    }

    @Override
    public CompletionStage<Receipt> publish(Publication publication) {
        List<String> arguments = new ArrayList<>(List.of(
                publication.id(),
                Long.toString(publication.sequence()),
                Long.toString(publication.nowMicros()),
                StatisticsCodec.note(publication)));
        publication.counts().values().forEach(counts -> arguments.add(StatisticsCodec.lines(counts)));
        return commands.run(PUBLISH, keys(publication.counts().keySet().stream()), arguments)
                .thenApply(reply -> {
                    List<?> words = reply;
                    return new Receipt(number(words.get(0)), (int) number(words.get(1)), number(words.get(2)) == 1);
                });
    }

    @Override
    public CompletionStage<Snapshot> read(long first, long last, @Nullable String limit) {
        List<String> keys = keys(LongStream.rangeClosed(first, last).boxed());
        return commands.run(READ, keys, List.of(limit == null ? "" : limit)).thenApply(reply -> {
            List<?> words = reply;
            int instances = (int) number(words.get(1));
            List<InstanceFigures> present = new ArrayList<>();
            for (int i = 2; i < 2 + 2 * instances; i += 2) {
                StatisticsCodec.instance(text(words.get(i)), text(words.get(i + 1)))
                        .ifPresent(present::add);
            }
            Map<Long, Map<String, CallCounts>> counts = new HashMap<>();
            for (long interval = first; interval <= last; interval++) {
                String lines = text(words.get(2 + 2 * instances + (int) (interval - first)));
                if (!lines.isEmpty()) {
                    counts.put(interval, StatisticsCodec.counts(lines));
                }
            }
            return new Snapshot(number(words.get(0)), present, counts);
        });
    }

    @Override
    public CompletionStage<?> publishKeys(String instance, Map<String, KeyReport> reports) {
        List<Map.Entry<String, KeyReport>> shortestFirst = new ArrayList<>(reports.entrySet());
        shortestFirst.sort(Comparator.comparingInt(report ->
                StatisticsCodec.keys(report.getValue(), Integer.MAX_VALUE).length()));
        List<String> limits = new ArrayList<>();
        List<String> arguments = new ArrayList<>(List.of(instance));
        int room = MOST_BYTES;
        for (Map.Entry<String, KeyReport> report : shortestFirst) {
            String text = StatisticsCodec.keys(report.getValue(), room / (shortestFirst.size() - limits.size()));
            room = Math.max(0, room - text.length());
            limits.add(topKeys(report.getKey()));
            arguments.add(text);
        }
        return commands.run(TOP_KEYS, limits, arguments);
    }

    @Override
    public CompletionStage<Map<String, KeyReport>> readKeys(String limit) {
        return commands.run(TOP_KEYS, List.of(topKeys(limit)), List.of()).thenApply(reply -> {
            List<?> words = reply;
            Map<String, KeyReport> reports = new HashMap<>();
            for (int i = 0; i < words.size(); i += 2) {
                String id = text(words.get(i));
                StatisticsCodec.keys(text(words.get(i + 1))).ifPresent(report -> reports.put(id, report));
            }
            return reports;
        });
    }

    private String topKeys(String limit) {
        return prefix + "keys:" + limit;
    }

    private List<String> keys(Stream<Long> intervals) {
        return Stream.concat(Stream.of(prefix + "instances"), intervals.map(interval -> prefix + interval))
                .toList();
    }

    private static long number(Object word) {
        return Long.parseLong(text(word));
    }

    private static String text(Object word) {
        return String.valueOf(word);
    }
}
