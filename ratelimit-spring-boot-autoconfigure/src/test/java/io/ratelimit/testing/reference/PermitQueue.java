package io.ratelimit.testing.reference;

import java.util.ArrayDeque;
import java.util.Deque;

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

    /** Removes what is left of a call. Returns whether its permits were the first. */
    boolean remove(Object call) {
        boolean first = !runs.isEmpty() && runs.getFirst().call == call;
        runs.removeIf(run -> {
            size -= run.call == call ? run.permits : 0;
            return run.call == call;
        });
        return first;
    }

    /** Permits of a call that are next to each other. */
    private record Run(Object call, long permits) {}
}
