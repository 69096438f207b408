package io.ratelimit.redis.batch;

/** Sends calls to Redis, which must decide each by its deadline. One script reaches all keys of a call. */
public interface CallDispatcher {

    /** Sends the call and completes its outcome in any case, now or later. Never throws. */
    void dispatch(PendingCall<?> call);
}
