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

    private final Executor ofCalls;

    private final Executor ofScripts;

    private volatile boolean excused;

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

    BatchTimeout(Duration timeout, AwakeClock clock, Scheduler scheduler, Executor worker) {
        this(timeout, clock, scheduler, worker, worker);
    }

    /**
     * @param timeout of a call and of a script
     * @param ofCalls what follows the end of a call keeps the timer from nothing
     * @param ofScripts nor does what follows the end of a script, which sends the next, and so may keep a call from its end
     */
    BatchTimeout(Duration timeout, AwakeClock clock, Scheduler scheduler, Executor ofCalls, Executor ofScripts) {
        this.timeout = timeout;
        this.clock = clock;
        this.scheduler = scheduler;
        this.ofCalls = ofCalls;
        this.ofScripts = ofScripts;
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
        set(nanosLeft());
    }

    private void set(long nanos) {
        if (!isIdle() && set.compareAndSet(false, true)) {
            try {
                clock.beat();
                var unused = scheduler.schedule(this::look, Math.max(0, Math.min(nanos, clock.beatNanos())));
            } catch (Throwable ex) {
                // No thread can be had. The next to come sets it, and threads that wait do not need it.
                set.set(false);
            }
        }
    }

    private void look() {
        set.set(false);
        // After this JVM has stood still, replies may be there that no thread has read yet: they get one beat for it.
        excused = clock.beat() && !excused;
        if (excused) {
            set(clock.beatNanos());
            return;
        }
        try {
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
        boolean stuck = nanosLeft() < -Math.max(2 * timeout.toNanos(), LONG.toNanos());
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
                try {
                    end(first);
                } catch (Throwable ex) {
                    logger.log(Level.DEBUG, "A call or a script could not be ended", ex);
                }
            }
        }
    }

    private static boolean isOver(Timed timed) {
        return timed.isOver() || timed.nanosLeft() <= 0;
    }

    /** What comes of it is not the timer's concern: the next have to end, too. */
    private void end(Timed timed) {
        run(timed instanceof Batch ? ofScripts : ofCalls, () -> {
            if (timed.expire()) {
                extended.add(timed);
                set();
            }
        });
    }

    /** Sends scripts, on a thread that may stand still there. */
    void runApart(Runnable sending) {
        run(ofScripts, sending);
    }

    /** Here, if no thread can be had. */
    private static void run(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread can be had for the end of a call or a script", ex);
            task.run();
        }
    }
}
