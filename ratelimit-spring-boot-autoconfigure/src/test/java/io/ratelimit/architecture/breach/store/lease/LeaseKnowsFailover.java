package io.ratelimit.architecture.breach.store.lease;

import io.ratelimit.architecture.breach.store.failover.FailoverKnowsLease;

/** An arrow that must not be. */
public class LeaseKnowsFailover {

    FailoverKnowsLease known;
}
