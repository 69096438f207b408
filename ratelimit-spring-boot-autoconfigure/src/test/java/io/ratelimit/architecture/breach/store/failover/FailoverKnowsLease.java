package io.ratelimit.architecture.breach.store.failover;

import io.ratelimit.architecture.breach.store.lease.LeaseKnowsFailover;

/** An arrow that must not be. */
public class FailoverKnowsLease {

    LeaseKnowsFailover known;
}
