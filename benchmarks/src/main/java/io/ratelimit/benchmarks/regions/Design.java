package io.ratelimit.benchmarks.regions;

import java.util.function.Consumer;

/** Decides the calls of all regions against one limit. */
interface Design {

    String name();

    /** Decides a call of a region, now or later. */
    void call(int region, Consumer<Boolean> answer);

    /** What to do if a region cannot reach Redis. */
    enum WhileCut {
        /** {@code on-store-failure: local}, with the number of regions as the number of instances. */
        LOCAL,
        REJECT
    }
}
