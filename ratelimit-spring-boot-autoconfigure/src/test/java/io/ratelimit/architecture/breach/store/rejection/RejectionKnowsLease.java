package io.ratelimit.architecture.breach.store.rejection;

import io.ratelimit.architecture.breach.store.lease.LeaseKnowsFailover;

/** An arrow that must not be. */
public class RejectionKnowsLease {

    LeaseKnowsFailover known;
}
