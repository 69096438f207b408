package io.ratelimit.internal.concurrent;

import io.ratelimit.RateLimitStoreException;
import java.lang.System.Logger.Level;

/** Logs that work in the background begins to fail, unless calls report the same failure, and that it succeeds again. */
public final class BackgroundFailureLog {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    private final String failing;

    private final String recovered;

    private boolean logged;

    /** @param failing has {@code {0}} in place of the cause */
    public BackgroundFailureLog(String failing, String recovered) {
        this.failing = failing;
        this.recovered = recovered;
    }

    public synchronized void failed(Throwable failure) {
        if (!logged && !isReportedByCalls(failure)) {
            logged = true;
            logger.log(Level.WARNING, failing, failure.getMessage());
        }
    }

    public synchronized void succeeded() {
        if (logged) {
            logged = false;
            logger.log(Level.INFO, recovered);
        }
    }

    private static boolean isReportedByCalls(Throwable failure) {
        return failure instanceof RateLimitStoreException known
                && switch (known.getReason()) {
                    case FORBIDDEN, FOREIGN_VALUE, ERROR -> false;
                    default -> true;
                };
    }
}
