package io.ratelimit;

import java.util.concurrent.CompletableFuture;

/**
 * A lease that is being asked for. Calls of the same bucket wait for it, as many as it has permits for: it is there sooner
 * than what they would ask for themselves. All but its numbers belong to the bucket's lock.
 */
final class LeaseFlight {

    private final CompletableFuture<Void> landing = new CompletableFuture<>();

    private final long asked;

    private final Leftover before;

    private long seats;

    private boolean abandoned;

    /** @param before what the lease before it has left over, to be given back first */
    LeaseFlight(long asked, Leftover before) {
        this.asked = asked;
        this.before = before;
        this.seats = asked;
    }

    /** How many permits more it asks for. */
    long asked() {
        return asked;
    }

    Leftover before() {
        return before;
    }

    /** Whether it may have the permits for another call. */
    boolean takesOn(long permits) {
        if (abandoned || permits > seats) {
            return false;
        }
        seats -= permits;
        return true;
    }

    /** What it brings is not to be handed out. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    CompletableFuture<Void> landing() {
        return landing;
    }
}
