package io.ratelimit.internal.concurrent;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/** Logs the first failure of work that may fail each time, such as that of a listener, and no other. */
public final class FirstFailureLog {

    private final System.Logger logger;

    private final String message;

    private final AtomicBoolean logged = new AtomicBoolean();

    /** @param message says that further failures are not logged */
    public FirstFailureLog(String logger, String message) {
        this.logger = System.getLogger(logger);
        this.message = message;
    }

    public void log(Throwable failure) {
        if (logged.compareAndSet(false, true)) {
            logger.log(Level.WARNING, message, failure);
        }
    }
}
