package io.ratelimit.architecture.breach.redis.change;

import io.ratelimit.architecture.breach.store.StoreKnowsLease;

/** An arrow that must not be. */
public class RedisChangeKnowsStore {

    StoreKnowsLease known;
}
