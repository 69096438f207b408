package io.ratelimit.simulation;

/** What a limit, or where it is counted, can have. */
enum Feature {
    TOKEN_BUCKET,
    LEAKY_BUCKET,
    FIXED_WINDOW,
    SLIDING_WINDOW,
    SLIDING_WINDOW_LOG,
    OWN_ALGORITHM,
    CONCURRENCY,
    INTERVAL,
    CALENDAR,
    SEVERAL_LIMITS,
    MAX_WAIT,
    LEASE,
    BLOCK_FOR,
    PLANS,
    PERMITS_AFTER,
    REFUND_ON,
    INSTANCE_SCOPE,
    DRY_RUN,
    REJECTION_CACHE
}
