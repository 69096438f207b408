package io.ratelimit.test.contract;

/**
 * A call that was admitted.
 *
 * @param micros the time of the call, in microseconds of the epoch
 * @param permits the permits that it took, at least one
 */
public record AdmittedCall(long micros, long permits) {}
