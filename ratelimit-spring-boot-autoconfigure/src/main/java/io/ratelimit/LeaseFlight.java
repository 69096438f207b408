package io.ratelimit;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lease that is being asked for. Calls of the same bucket wait for it, as many as it has permits for: it is there sooner
 * than what they would ask for themselves. All but its numbers belong to the bucket's lock.
 */
final class LeaseFlight {

    private final CompletableFuture<Void> landing = new CompletableFuture<>();

    private final long asked;

    private final LeaseRemainder before;

    private long seats;

    private boolean abandoned;

    private @Nullable Stock stock;

    private @Nullable RateLimitDecision decision;

    /** @param before what is unused of the lease before it */
    LeaseFlight(long asked, LeaseRemainder before) {
        this.asked = asked;
        this.before = before;
        this.seats = asked;
    }

    /** How many permits more it asks for. */
    long asked() {
        return asked;
    }

    LeaseRemainder before() {
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

    /** One that has come, with permits taken for who wants to wait for it. */
    static LeaseFlight landed(Stock stock, long after, long nanos) {
        LeaseFlight flight = new LeaseFlight(0, LeaseRemainder.NONE);
        flight.serve(stock, after, nanos);
        flight.landing.complete(null);
        return flight;
    }

    /**
     * Hands out to all who wait, before anybody else can take something: who calls again at once would leave nothing for
     * those who wake up later. Nothing, if it is too little for all.
     */
    void serve(Stock brought, long nanos) {
        serve(brought, brought.take(asked - seats, nanos), nanos);
    }

    private void serve(Stock brought, long served, long nanos) {
        if (served >= 0) {
            stock = brought;
            decision = brought.decision(served, nanos);
        }
    }

    /** What a call that has waited is told; {@code null} if it is to look for itself. */
    @Nullable
    RefundableDecisions served(Charge charge, boolean refundable) {
        return stock == null || decision == null
                ? null
                : new RefundableDecisions(List.of(decision), refundable ? stock.refund(charge) : Refund.NONE);
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
