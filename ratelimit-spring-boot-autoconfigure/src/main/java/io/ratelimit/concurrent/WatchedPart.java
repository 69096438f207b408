package io.ratelimit.concurrent;

import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A part that the {@link Watchdog} checks. Logs each incident once: from the first round that finds it to one that does not. */
final class WatchedPart<T> {

    private static final System.Logger logger = System.getLogger(Watchdog.class.getName());

    private final WeakReference<T> reference;

    private final Function<? super T, @Nullable String> check;

    private boolean troubled;

    WatchedPart(T part, Function<? super T, @Nullable String> check) {
        this.reference = new WeakReference<>(part);
        this.check = check;
    }

    /**
     * Checks the part. Never throws.
     *
     * @return whether the part still exists
     */
    boolean check() {
        T part = reference.get();
        if (part == null) {
            return false;
        }
        try {
            check(part);
        } catch (Throwable ex) {
            // Not even logged: there may be no memory. The other parts are checked nevertheless.
        }
        return true;
    }

    private void check(T part) {
        boolean known = troubled;
        try {
            String found = check.apply(part);
            troubled = found != null;
            if (troubled && !known) {
                logger.log(Level.WARNING, "{0} (found by the watchdog)", found);
            }
        } catch (Throwable ex) {
            troubled = true;
            if (!known) {
                logger.log(Level.WARNING, "A check of the watchdog failed; its next failures are not logged", ex);
            }
        }
    }
}
