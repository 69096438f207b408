package io.ratelimit.architecture.breach.store.scope;

import io.ratelimit.architecture.breach.store.failover.FailoverKnowsLease;

/** An arrow that must not be. */
public class ScopeKnowsFailover {

    FailoverKnowsLease known;
}
