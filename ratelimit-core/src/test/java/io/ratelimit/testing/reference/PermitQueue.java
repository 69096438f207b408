package io.ratelimit.testing.reference;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Permits in the order in which they were taken, which is the order in which they come back. Each belongs to a call. */
final class PermitQueue {

    private final Deque<Run> runs = new ArrayDeque<>();

    private long size;

    long size() {
        return size;
    }

    void add(Object call, long permits) {
        runs.add(new Run(call, permits));
        size += permits;
    }

    /** Removes permits that have come back. */
    void removeFirst(long permits) {
        size -= permits;
        long left = permits;
        while (left > 0) {
            Run first = runs.removeFirst();
            if (first.permits > left) {
                runs.addFirst(new Run(first.call, first.permits - left));
            }
            left -= Math.min(left, first.permits);
        }
    }

    /** Removes the permits that were taken last. */
    void removeLast(long permits) {
        long left = Math.min(permits, size);
        size -= left;
        while (left > 0) {
            Run last = runs.removeLast();
            if (last.permits > left) {
                runs.addLast(new Run(last.call, last.permits - left));
            }
            left -= Math.min(left, last.permits);
        }
    }

    /** Removes permits of a call, the last of those that are left. Returns whether the first permits were among them. */
    boolean remove(Object call, long permits) {
        boolean first = false;
        List<Run> kept = new ArrayList<>();
        for (Run run : runs) {
            long removed = run.call == call ? Math.min(permits, run.permits) : 0;
            size -= removed;
            first |= kept.isEmpty() && removed > 0 && removed == run.permits;
            if (removed < run.permits) {
                kept.add(new Run(run.call, run.permits - removed));
            }
        }
        runs.clear();
        runs.addAll(kept);
        return first;
    }

    /** Permits of a call that are next to each other. */
    private record Run(Object call, long permits) {}
}
