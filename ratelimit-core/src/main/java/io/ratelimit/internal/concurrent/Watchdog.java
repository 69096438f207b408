package io.ratelimit.internal.concurrent;

import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Checks once a second that what works in the background still makes progress: a second line of defence, behind the
 * deadlines that every wait has. A part that is stuck is resumed by its check, and a warning is logged once.
 *
 * <p>All parts share one daemon thread, which exists while there is a part. Parts are held weakly, so nothing has to be
 * closed. A call costs nothing here: a part is registered when it is created.
 */
public final class Watchdog {

    private static final System.Logger logger = System.getLogger("io.ratelimit.watchdog");

    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private static final Watchdog SHARED = new Watchdog(DaemonThreads.createSchedulerOfTheJvm("ratelimit-watchdog"));

    private final Queue<Part<?>> parts = new ConcurrentLinkedQueue<>();

    private final PeriodicTask checks;

    /** Resumes a part that is stuck. */
    @FunctionalInterface
    public interface Check<T> {

        /** Returns a sentence for the log, or {@code null} if all is well. Must not block. */
        @Nullable
        String resume(T part);
    }

    Watchdog(ScheduledExecutorService thread) {
        this.checks =
                new PeriodicTask(thread, this::checkAll, () -> parts.isEmpty() ? Long.MAX_VALUE : INTERVAL.toMillis());
    }

    /** Returns the one of this JVM. */
    public static Watchdog shared() {
        return SHARED;
    }

    /**
     * Checks a part from now on, until it is garbage. Never throws.
     *
     * @param check must not hold the part, which is passed to it
     */
    public <T> void watch(T part, Check<? super T> check) {
        parts.add(new Part<>(part, check));
        try {
            checks.start();
        } catch (Throwable ex) {
            // No thread could be started.
            logger.log(Level.WARNING, "The watchdog could not be started; trying again with the next part", ex);
        }
    }

    void checkAll() {
        parts.removeIf(part -> !part.check());
    }

    /** A part to check. Logs each incident once: from the first round that finds it to one that does not. */
    private static final class Part<T> {

        private final WeakReference<T> reference;

        private final Check<? super T> check;

        private boolean troubled;

        Part(T part, Check<? super T> check) {
            this.reference = new WeakReference<>(part);
            this.check = check;
        }

        /**
         * Checks the part. Throws nothing but what its log line throws, such as without memory, and only once.
         *
         * @return whether the part still exists
         */
        boolean check() {
            T part = reference.get();
            if (part == null) {
                return false;
            }
            boolean known = troubled;
            troubled = true;
            try {
                String found = check.resume(part);
                troubled = found != null;
                if (troubled && !known) {
                    logger.log(Level.WARNING, "{0} (found by the watchdog)", found);
                }
            } catch (Throwable ex) {
                if (!known) {
                    logger.log(Level.WARNING, "A check of the watchdog failed; its next failures are not logged", ex);
                }
            }
            return true;
        }
    }
}
