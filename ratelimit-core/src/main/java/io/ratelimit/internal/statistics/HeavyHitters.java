package io.ratelimit.internal.statistics;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts the most frequent of any number of keys in bounded memory, by the algorithm Space-Saving: a key that has no counter
 * takes over the lowest one, with its count, which is then by how much the count may be too high. With n counters, no count is
 * too high by more than an n-th of all calls, and every key with more calls than that is there. Not thread-safe.
 *
 * @see <a href="https://doi.org/10.1007/978-3-540-30570-5_27">Metwally, Agrawal, El Abbadi: Efficient Computation of Frequent
 *     and Top-k Elements in Data Streams (2005)</a>
 */
final class HeavyHitters {

    private final int most;

    private final Map<String, Counter> counters = new HashMap<>();

    /** The same, in an array, because looking for the lowest one in the map takes several times as long. */
    private final List<Counter> all = new ArrayList<>();

    /** No count is lower. They only grow. */
    private long least;

    /** That of the counter that was the lowest last. */
    private int place;

    /** Whether keys have lost their counters. */
    private boolean full;

    HeavyHitters(int most) {
        this.most = most;
    }

    void add(String key) {
        Counter counter = counters.get(key);
        if (counter == null) {
            counter = all.size() < most ? append(key) : takeOverLowest(key);
            counters.put(key, counter);
        }
        counter.count++;
    }

    private Counter append(String key) {
        Counter counter = new Counter(key);
        all.add(counter);
        return counter;
    }

    private Counter takeOverLowest(String key) {
        full = true;
        Counter lowest = lowest();
        counters.remove(lowest.key);
        lowest.key = key;
        lowest.error = lowest.count;
        return lowest;
    }

    /** Looks from the place on where it found the last one. While many keys have no counter, the next one is the lowest. */
    private Counter lowest() {
        for (int seen = 0; all.get(place).count != least; place = (place + 1) % all.size()) {
            if (seen++ == all.size()) {
                least = all.stream().mapToLong(counter -> counter.count).min().orElseThrow();
            }
        }
        return all.get(place);
    }

    /** Returns the counts, the highest first. */
    KeyReport report() {
        List<KeyCount> counts = all.stream()
                .map(counter -> new KeyCount(counter.key, counter.count, counter.error))
                .sorted(Comparator.comparingLong(KeyCount::rejected).reversed())
                .toList();
        return new KeyReport(counts, full ? lowest().count : 0);
    }

    private static final class Counter {

        private String key;

        private long count;

        private long error;

        Counter(String key) {
            this.key = key;
        }
    }
}
