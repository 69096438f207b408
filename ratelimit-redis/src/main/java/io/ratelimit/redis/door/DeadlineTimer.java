package io.ratelimit.redis.door;

import io.ratelimit.internal.concurrent.DaemonThreads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Ends scripts, and calls that no thread waits for, when their time is over. All have the same timeout, so they end in the order
 * of their arrival, and one timer is enough. A call ends independently of its batch. While something can end, the timer also
 * makes the clock beat.
 */
public final class DeadlineTimer {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration LONG = Duration.ofSeconds(2);

    private final Queue<Task> line = new ConcurrentLinkedQueue<>();

    /** Have been granted another timeout, which may end before those in the line. */
    private final Queue<Task> extended = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean set = new AtomicBoolean();

    private final Duration timeout;

    private final AwakeClock clock;

    private final Scheduler scheduler;

    private final Executor ofCalls;

    private final Executor ofScripts;

    private volatile boolean excused;

    /** Work that must be over in time. */
    public interface Task {

        boolean isOver();

        /** Returns whether its end sends the next script, and may block. */
        default boolean isScript() {
            return false;
        }

        long nanosLeft();

        /**
         * Ends the work, because no time is left.
         *
         * @return whether the work was granted another timeout instead, from now
         */
        boolean expire();
    }

    /**
     * @param timeout of a call and of a script
     * @param ofCalls runs what follows the end of a call, so that it does not delay the timer
     * @param ofScripts runs what follows the end of a script, which sends the next script and may block
     */
    public DeadlineTimer(
            Duration timeout, AwakeClock clock, Scheduler scheduler, Executor ofCalls, Executor ofScripts) {
        this.timeout = timeout;
        this.clock = clock;
        this.scheduler = scheduler;
        this.ofCalls = ofCalls;
        this.ofScripts = ofScripts;
    }

    public AwakeClock clock() {
        return clock;
    }

    public Deadline deadline() {
        return Deadline.in(timeout, clock);
    }

    /** Bounds the time that a call must have left to be sent. Otherwise one slow reply would prevent all further calls. */
    public long longestOf(long roundTrip) {
        return Math.min(roundTrip, timeout.toNanos() / 5 * 4);
    }

    /** Returns whether the deadline passed so long ago that the work is stuck, however busy the machine is. */
    public boolean isLongOver(Deadline deadline) {
        return deadline.nanosLeftAtLast() < -Math.max(timeout.toNanos(), LONG.toNanos());
    }

    /** Ends the work when its time is over. */
    public void watch(Task next) {
        removeOver();
        line.add(next);
        set();
    }

    /** Removes up to two entries that are over for each one added, so that the line does not grow. */
    private void removeOver() {
        for (int i = 0; i < 2; i++) {
            Task first = line.peek();
            if (first == null || !first.isOver()) {
                return;
            }
            line.remove(first);
        }
    }

    /** Sets the timer, unless it is set. */
    private void set() {
        set(nanosLeft());
    }

    private void set(long nanos) {
        if (!isIdle() && set.compareAndSet(false, true)) {
            try {
                clock.beat();
                var unused = scheduler.schedule(this::look, Math.max(0, Math.min(nanos, clock.beatNanos())));
            } catch (Throwable ex) {
                // No thread can be created. The next call sets the timer, and waiting threads do not need it.
                set.set(false);
            }
        }
    }

    private void look() {
        set.set(false);
        // After a stall of this JVM, threads get one beat to read replies that have arrived.
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
     * Ends what is overdue if the timer could not be set and no call has set it since. Called by the watchdog.
     *
     * @return whether the timer was stuck
     */
    public boolean resumeIfStuck() {
        boolean stuck = nanosLeft() < -Math.max(2 * timeout.toNanos(), LONG.toNanos());
        if (stuck) {
            look();
        }
        return stuck;
    }

    private boolean isIdle() {
        return line.isEmpty() && extended.isEmpty();
    }

    /** Returns the time until the first one has to end. */
    private long nanosLeft() {
        return Math.min(nanosLeft(line.peek()), nanosLeft(extended.peek()));
    }

    private static long nanosLeft(@Nullable Task timed) {
        return timed == null ? Long.MAX_VALUE : timed.nanosLeft();
    }

    private void endAll(Queue<Task> timed) {
        for (Task first = timed.peek(); first != null && isOver(first); first = timed.peek()) {
            if (timed.remove(first) && !first.isOver()) {
                try {
                    end(first);
                } catch (Throwable ex) {
                    logger.log(Level.DEBUG, "Cannot end a call or a script", ex);
                }
            }
        }
    }

    private static boolean isOver(Task timed) {
        return timed.isOver() || timed.nanosLeft() <= 0;
    }

    /** Ends the work on another thread, so that the timer goes on. */
    private void end(Task timed) {
        DaemonThreads.runApart(timed.isScript() ? ofScripts : ofCalls, () -> {
            if (timed.expire()) {
                extended.add(timed);
                set();
            }
        });
    }

    /** Sends scripts on a thread that may block. */
    public void runOnSender(Runnable sending) {
        DaemonThreads.runApart(ofScripts, sending);
    }

    /**
     * Sends scripts after that time, on a thread that may block.
     *
     * @return whether a thread is available for that
     */
    public boolean runOnSender(Runnable sending, long nanos) {
        try {
            var unused = scheduler.schedule(() -> runOnSender(sending), Math.max(0, nanos));
            return true;
        } catch (Throwable ex) {
            logger.log(Level.DEBUG, "No thread is available to send a script later; the next reply sends it", ex);
            return false;
        }
    }
}
