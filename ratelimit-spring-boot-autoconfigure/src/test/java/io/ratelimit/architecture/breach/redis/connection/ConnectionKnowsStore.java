package io.ratelimit.architecture.breach.redis.connection;

import io.ratelimit.architecture.breach.store.StoreKnowsLease;

/** An arrow that must not be. */
public class ConnectionKnowsStore {

    StoreKnowsLease known;
}
