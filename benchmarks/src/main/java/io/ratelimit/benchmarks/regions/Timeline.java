package io.ratelimit.benchmarks.regions;

import java.util.Comparator;
import java.util.PriorityQueue;

/** The events of a simulation, in the order of their times, in seconds. */
final class Timeline {

    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingDouble(Event::time).thenComparingLong(Event::number));

    private double now;

    private long scheduled;

    double now() {
        return now;
    }

    void after(double seconds, Runnable action) {
        events.add(new Event(now + seconds, scheduled++, action));
    }

    void runUntil(double end) {
        while (!events.isEmpty() && events.peek().time <= end) {
            Event next = events.remove();
            now = next.time;
            next.action.run();
        }
        now = end;
    }

    /** @param number keeps the order of events of the same time */
    private record Event(double time, long number, Runnable action) {}
}
