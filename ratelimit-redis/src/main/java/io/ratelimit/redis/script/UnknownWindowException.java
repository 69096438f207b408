package io.ratelimit.redis.script;

import io.ratelimit.RateLimitStoreException;

/** Thrown if the script was not told the calendar window of the server's time. Nothing was charged. */
public final class UnknownWindowException extends RateLimitStoreException {

    private static final long serialVersionUID = 1L;

    private final long micros;

    UnknownWindowException(long micros) {
        super(Reason.ERROR, "Redis: the calendar window of its time is not known", null);
        this.micros = micros;
    }

    /** Returns the time, in microseconds of the epoch. */
    public long micros() {
        return micros;
    }
}
