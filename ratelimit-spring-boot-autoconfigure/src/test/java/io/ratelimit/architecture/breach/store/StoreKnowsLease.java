package io.ratelimit.architecture.breach.store;

import io.ratelimit.architecture.breach.store.lease.LeaseKnowsFailover;

/** An arrow that must not be. */
public class StoreKnowsLease {

    LeaseKnowsFailover known;
}
