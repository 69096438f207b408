package io.ratelimit.architecture.breach.redis.statistics;

import io.ratelimit.architecture.breach.store.StoreKnowsLease;

/** An arrow that must not be. */
public class RedisStatisticsKnowsStore {

    StoreKnowsLease known;
}
