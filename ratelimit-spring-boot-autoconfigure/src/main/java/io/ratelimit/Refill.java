package io.ratelimit;

/** How the tokens of a {@link Algorithm#TOKEN_BUCKET} come back. */
public enum Refill {

    /** Evenly, to the microsecond. */
    CONTINUOUS,

    /** In one batch at each full period; the period starts with the call that takes from a full bucket. */
    INTERVAL
}
