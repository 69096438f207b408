package io.ratelimit.internal.memory;

/**
 * What a charge has taken.
 *
 * @param bucket where from: not the next one of the same key, when this one is forgotten
 * @param receipt the state of the rule right after the charge
 * @param time of the charge, as the bucket knows it
 */
record ChargedPermits(Bucket bucket, CounterState receipt, long time) {}
