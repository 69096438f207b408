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

    private final Map<String, Counter> counters = new HashMap<>();

    /** A heap with the lowest count first. */
    private final Counter[] heap;

    private int size;

    /** Whether keys have lost their counters. */
    private boolean full;

    HeavyHitters(int most) {
        this.heap = new Counter[most];
    }

    void add(String key) {
        Counter counter = counters.get(key);
        if (counter == null) {
            counter = size < heap.length ? append(key) : takeOverLowest(key);
            counters.put(key, counter);
        }
        counter.count++;
        sink(counter);
    }

    /** Adds a counter of 0, which is the lowest. */
    private Counter append(String key) {
        Counter counter = new Counter(key);
        int place = size++;
        for (; place > 0; place = (place - 1) / 2) {
            put(heap[(place - 1) / 2], place);
        }
        put(counter, 0);
        return counter;
    }

    private Counter takeOverLowest(String key) {
        full = true;
        Counter lowest = heap[0];
        counters.remove(lowest.key);
        lowest.key = key;
        lowest.error = lowest.count;
        return lowest;
    }

    private void sink(Counter counter) {
        int place = counter.place;
        while (true) {
            int child = 2 * place + 1;
            if (child + 1 < size && heap[child + 1].count < heap[child].count) {
                child++;
            }
            if (child >= size || heap[child].count >= counter.count) {
                break;
            }
            put(heap[child], place);
            place = child;
        }
        put(counter, place);
    }

    private void put(Counter counter, int place) {
        heap[place] = counter;
        counter.place = place;
    }

    /** Returns the counts, the highest first. */
    KeyReport report() {
        List<KeyCount> counts = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            counts.add(new KeyCount(heap[i].key, heap[i].count, heap[i].error));
        }
        counts.sort(Comparator.comparingLong(KeyCount::rejected).reversed());
        return new KeyReport(counts, full ? heap[0].count : 0);
    }

    private static final class Counter {

        private String key;

        private long count;

        private long error;

        private int place;

        Counter(String key) {
            this.key = key;
        }
    }
}
