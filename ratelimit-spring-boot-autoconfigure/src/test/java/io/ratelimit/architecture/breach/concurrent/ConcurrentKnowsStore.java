package io.ratelimit.architecture.breach.concurrent;

import io.ratelimit.architecture.breach.store.StoreKnowsLease;

/** An arrow that must not be. */
public class ConcurrentKnowsStore {

    StoreKnowsLease known;
}
