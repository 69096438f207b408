package io.ratelimit.simulation;

/** What can happen to a limit while it is in use. */
enum Event {
    OVERRIDE_BEGINS,
    OVERRIDE_ENDS,
    REFRESH,
    RESET,
    GRANT,
    BLOCK,
    UNBLOCK,
    OUTAGE,
    RESTART_WITH_DATA,
    RESTART_WITHOUT_DATA,
    FAILOVER,
    CLOCK_BACK,
    DISPATCH,
    CANCEL,
    DISCONNECT,
    SHUTDOWN
}
