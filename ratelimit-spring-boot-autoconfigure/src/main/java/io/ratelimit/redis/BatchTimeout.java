package io.ratelimit.redis;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ends what has no more time: scripts under way, and calls that no thread waits for. All have the same timeout, so the first
 * that came is the first to end, and one timer is enough. A call's end does not depend on the batch that it is in. While
 * there is something to end, the timer also keeps the clock beating.
 */
final class BatchTimeout {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration LONG = Duration.ofSeconds(2);

    private final Queue<Timed> line = new ConcurrentLinkedQueue<>();

    /** Given a further timeout, which may be over before those of the line are. */
    private final Queue<Timed> extended = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean set = new AtomicBoolean();

    private final Duration timeout;

    private final AwakeClock clock;

    private final Scheduler scheduler;

    private final Executor worker;

    /** Something that has to be over in time. */
    interface Timed {

        boolean isOver();

        long nanosLeft();

        /**
         * Told when no time is left.
         *
         * @return whether it has been given a further timeout, from now
         */
        boolean expire();
    }

    /**
     * @param timeout of a call and of a script
     * @param worker what follows an end, such as sending the next script, keeps the timer from nothing
     */
    BatchTimeout(Duration timeout, AwakeClock clock, Scheduler scheduler, Executor worker) {
        this.timeout = timeout;
        this.clock = clock;
        this.scheduler = scheduler;
        this.worker = worker;
    }

    AwakeClock clock() {
        return clock;
    }

    Deadline deadline() {
        return Deadline.in(timeout, clock);
    }

    /** The most that a call has to have left to be sent, or none would be once an answer took long. */
    long longestOf(long roundTrip) {
        return Math.min(roundTrip, timeout.toNanos() / 5 * 4);
    }

    /** Whether it was over so long ago that nobody can be about to end it, however busy the machine is. */
    boolean isLongOver(Deadline deadline) {
        return deadline.nanosLeftAtLast() < -Math.max(timeout.toNanos(), LONG.toNanos());
    }

    /** Ends it in time. */
    void watch(Timed next) {
        forgetOver();
        line.add(next);
        set();
    }

    /** More than come, so that the line does not grow with what is over. */
    private void forgetOver() {
        for (int i = 0; i < 2; i++) {
            Timed first = line.peek();
            if (first == null || !first.isOver()) {
                return;
            }
            line.remove(first);
        }
    }

    /** Sets the timer, if it is not. */
    private void set() {
        if (!isIdle() && set.compareAndSet(false, true)) {
            try {
                clock.beat();
                var unused = scheduler.schedule(this::look, Math.max(0, Math.min(nanosLeft(), clock.beatNanos())));
            } catch (Throwable ex) {
                // No thread can be had. The next to come sets it, and threads that wait do not need it.
                set.set(false);
            }
        }
    }

    private void look() {
        set.set(false);
        try {
            clock.beat();
            endAll(line);
            endAll(extended);
        } finally {
            set();
        }
        if (isIdle()) {
            clock.rest();
        }
    }

    /**
     * Goes on, if something is over for longer than can be: the timer could not be set, and nothing came to set it again.
     *
     * @return whether it was so
     */
    boolean takeUpIfStuck() {
        boolean stuck = nanosLeft() < -2 * timeout.toNanos();
        if (stuck) {
            look();
        }
        return stuck;
    }

    private boolean isIdle() {
        return line.isEmpty() && extended.isEmpty();
    }

    /** Until the first has no time left. */
    private long nanosLeft() {
        return Math.min(nanosLeft(line.peek()), nanosLeft(extended.peek()));
    }

    private static long nanosLeft(@Nullable Timed timed) {
        return timed == null ? Long.MAX_VALUE : timed.nanosLeft();
    }

    private void endAll(Queue<Timed> timed) {
        for (Timed first = timed.peek(); first != null && isOver(first); first = timed.peek()) {
            if (timed.remove(first) && !first.isOver()) {
                end(first);
            }
        }
    }

    private static boolean isOver(Timed timed) {
        return timed.isOver() || timed.nanosLeft() <= 0;
    }

    /** What comes of it is not the timer's concern: the next have to end, too. */
    private void end(Timed timed) {
        try {
            worker.execute(() -> {
                if (timed.expire()) {
                    extended.add(timed);
                    set();
                }
            });
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "A call or a script could not be ended", ex);
        }
    }
}
