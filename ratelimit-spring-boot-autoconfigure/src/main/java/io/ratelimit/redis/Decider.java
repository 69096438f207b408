package io.ratelimit.redis;

/** Has calls decided, each by its deadline. All keys of a call are within the reach of one script. */
interface Decider {

    /** The call's outcome completes, one way or the other. Never throws. */
    void decide(PendingCall<?> call);
}
