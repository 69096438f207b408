package io.ratelimit.event.publisher;

import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.FirstFailureLog;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Publishes events one after another on a thread of its own. Bounded: while too many are waiting, further ones are dropped,
 * which costs the caller one read of a counter.
 */
final class EventQueue {

    private static final System.Logger logger = System.getLogger("io.ratelimit.listeners");

    private final String name;

    private final int most;

    private final Consumer<Object> publisher;

    private final Executor thread;

    /** How many events wait or are being published. */
    private final AtomicInteger pending = new AtomicInteger();

    /** The thread that publishes an event now. */
    private volatile @Nullable Thread publishing;

    private final AtomicBoolean dropLogged = new AtomicBoolean();

    private final FirstFailureLog failures;

    /**
     * Creates a queue.
     *
     * @param name names the events, for the log
     * @param most the largest number of events that wait
     * @param publisher publishes an event; it may block and throw
     */
    EventQueue(String name, int most, Consumer<Object> publisher) {
        this(name, most, publisher, DaemonThreads.create("ratelimit-events", 1, Integer.MAX_VALUE));
    }

    EventQueue(String name, int most, Consumer<Object> publisher, Executor thread) {
        this.name = name;
        this.most = most;
        this.publisher = publisher;
        this.thread = thread;
        this.failures = new FirstFailureLog(
                "io.ratelimit.listeners", "A listener of " + name + " failed; its further failures are not logged");
    }

    /**
     * Adds an event, or drops it. Never blocks and never throws.
     *
     * @param event creates the event, if there is room
     */
    void add(Supplier<?> event) {
        if (pending.get() >= most) {
            if (dropLogged.compareAndSet(false, true)) {
                logger.log(
                        Level.WARNING,
                        "Listeners of {0} are too slow: {1} are waiting, so further ones are dropped; this is logged once",
                        name,
                        most);
            }
            return;
        }
        Object created = event.get();
        pending.incrementAndGet();
        try {
            thread.execute(() -> publish(created));
        } catch (Throwable ex) {
            // No thread could be created.
            pending.decrementAndGet();
        }
    }

    /** Returns whether a listener of an event is running on this thread. */
    boolean isPublishing() {
        return Thread.currentThread() == publishing;
    }

    private void publish(Object event) {
        publishing = Thread.currentThread();
        try {
            publisher.accept(event);
        } catch (Throwable ex) {
            failures.log(ex);
        } finally {
            publishing = null;
            pending.decrementAndGet();
        }
    }
}
