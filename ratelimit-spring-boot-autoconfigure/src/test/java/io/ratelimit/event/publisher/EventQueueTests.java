package io.ratelimit.event.publisher;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.testing.LogRecorder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventQueueTests {

    private final List<Object> published = new ArrayList<>();

    private final Queue<Runnable> work = new ArrayDeque<>();

    private final EventQueue queue = new EventQueue("events", 3, published::add, work::add);

    private void work() {
        for (Runnable next = work.poll(); next != null; next = work.poll()) {
            next.run();
        }
    }

    @Test
    void publishesInOrderOnItsThread() {
        queue.add(() -> "one");
        queue.add(() -> "two");
        assertThat(published).isEmpty();
        work();
        assertThat(published).containsExactly("one", "two");
        queue.add(() -> "three");
        work();
        assertThat(published).containsExactly("one", "two", "three");
    }

    @Test
    void dropsWhatFindsNoRoomAndLogsOnce() {
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.listeners")) {
            IntStream.rangeClosed(1, 10).forEach(event -> queue.add(() -> event));
            assertThat(log.lines())
                    .containsExactly("Listeners of events are too slow: 3 are waiting, so further ones are dropped;"
                            + " this is logged once");
        }
        work();
        assertThat(published).containsExactly(1, 2, 3);
        queue.add(() -> 11);
        work();
        assertThat(published).contains(11);
    }

    @Test
    void listenerThatFailsIsLoggedOnceAndTheNextEventIsPublished() {
        EventQueue failing = new EventQueue(
                "events",
                3,
                event -> {
                    published.add(event);
                    throw new AssertionError("broken");
                },
                work::add);
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.listeners")) {
            failing.add(() -> "one");
            failing.add(() -> "two");
            work();
            assertThat(log.lines()).containsExactly("A listener of events failed; its further failures are not logged");
        }
        assertThat(published).containsExactly("one", "two");
    }

    @Test
    void callerDoesNotFailWithoutAThread() {
        EventQueue threadless = new EventQueue("events", 1, published::add, task -> {
            throw new RejectedExecutionException();
        });
        try (LogRecorder log = LogRecorder.ofThisThread("io.ratelimit.listeners")) {
            threadless.add(() -> "one");
            threadless.add(() -> "two");
            assertThat(log.lines()).isEmpty();
        }
    }
}
