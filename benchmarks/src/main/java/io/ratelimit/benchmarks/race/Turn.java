package io.ratelimit.benchmarks.race;

/** A turn lasts until somebody says that it is over. */
final class Turn {

    volatile boolean over;
}
