package io.ratelimit;

/** Decides how the permits of a {@link Algorithm#TOKEN_BUCKET} come back. */
public enum Refill {

    /** Evenly, to the microsecond. */
    CONTINUOUS,

    /** In one batch at each full period; the period starts with the call that takes permits from a full bucket. */
    INTERVAL
}
