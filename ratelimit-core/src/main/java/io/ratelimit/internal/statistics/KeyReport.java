package io.ratelimit.internal.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The keys that a limit rejects most.
 *
 * @param counts the highest first
 * @param others how often each other key was rejected, at most
 */
public record KeyReport(List<KeyCount> counts, long others) {

    static final KeyReport NONE = new KeyReport(List.of(), 0);

    /**
     * Adds reports of the same limit. A key that one of them does not have counts as often there as it may have been rejected.
     *
     * @param most the number of keys to keep
     * @see <a href="https://doi.org/10.1145/2213556.2213562">Agarwal et al.: Mergeable Summaries (2012)</a>
     */
    static KeyReport sum(List<KeyReport> reports, int most) {
        long others = reports.stream().mapToLong(KeyReport::others).sum();
        Map<String, KeyCount> sums = new HashMap<>();
        for (KeyReport report : reports) {
            for (KeyCount count : report.counts) {
                KeyCount sum = sums.getOrDefault(count.key(), new KeyCount(count.key(), others, others));
                sums.put(
                        count.key(),
                        new KeyCount(
                                count.key(),
                                sum.rejected() + count.rejected() - report.others,
                                sum.error() + count.error() - report.others));
            }
        }
        List<KeyCount> sorted = new ArrayList<>(sums.values());
        sorted.sort(Comparator.comparingLong(KeyCount::rejected).reversed().thenComparing(KeyCount::key));
        return new KeyReport(sorted, others).first(most);
    }

    /** Returns the first keys alone. The others count among those that the report does not name. */
    public KeyReport first(int most) {
        return counts.size() <= most
                ? this
                : new KeyReport(
                        List.copyOf(counts.subList(0, most)),
                        Math.max(others, counts.get(most).rejected()));
    }
}
