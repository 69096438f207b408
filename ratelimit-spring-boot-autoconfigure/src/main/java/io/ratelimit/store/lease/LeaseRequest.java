package io.ratelimit.store.lease;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.store.Lease;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A lease that the store is asked for. Calls of the same bucket wait for it, as many as it has permits for: it is there
 * sooner than what they would ask for themselves. All but its numbers and its end belong to the bucket's lock.
 */
public final class LeaseRequest {

    /** For threads that wait; done before {@link #landing}, whose continuations may take their time. */
    private final CompletableFuture<Void> arrival = new CompletableFuture<>();

    private final CompletableFuture<Void> landing = new CompletableFuture<>();

    private final long asked;

    private final Lease before;

    private final long since;

    private long seats;

    private boolean abandoned;

    private @Nullable LeasedPermits stock;

    private @Nullable RateLimitDecision decision;

    /**
     * @param before what is unused of the lease before it
     * @param since the time, in nanoseconds
     */
    LeaseRequest(long asked, Lease before, long since) {
        this.asked = asked;
        this.before = before;
        this.since = since;
        this.seats = asked;
    }

    /** How many permits more it asks for. */
    public long asked() {
        return asked;
    }

    public Lease before() {
        return before;
    }

    long since() {
        return since;
    }

    /** Whether it may have the permits for another call. */
    boolean takesOn(long permits) {
        if (abandoned || permits > seats) {
            return false;
        }
        seats -= permits;
        return true;
    }

    /** One that has come, with permits taken for the call that wants to wait for it. */
    static LeaseRequest landed(LeasedPermits stock, long after, long nanos) {
        LeaseRequest request = new LeaseRequest(0, Lease.NONE, nanos);
        request.serve(stock, after, nanos);
        request.arrived(null);
        request.landed(null);
        return request;
    }

    /**
     * Hands out to all calls that wait, before anybody else can take something: a thread that calls again at once would leave
     * nothing for those that wake up later. Nothing, if it is too little for all.
     */
    void serve(LeasedPermits brought, long nanos) {
        serve(brought, brought.take(passengers(), nanos), nanos);
    }

    /** How many permits the calls want that wait for it. */
    long passengers() {
        return asked - seats;
    }

    private void serve(LeasedPermits brought, long served, long nanos) {
        if (served >= 0) {
            stock = brought;
            decision = brought.decision(served, nanos);
        }
    }

    /** What a call that has waited is told; {@code null} if it is to look for itself. */
    @Nullable
    public RateLimitDecision decision() {
        return decision;
    }

    /** The same, for the call's request. */
    @Nullable
    StoreOutcome served(StoreRequest call) {
        return stock == null || decision == null ? null : stock.outcome(call, decision);
    }

    /** What it brings is not to be handed out. */
    void abandon() {
        abandoned = true;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    boolean isOver() {
        return arrival.isDone();
    }

    /** For threads that wait until the store has answered. */
    CompletableFuture<Void> arrival() {
        return arrival;
    }

    /** For whatever is to follow without a thread that waits. */
    CompletableFuture<Void> landing() {
        return landing;
    }

    public void arrived(@Nullable Throwable failure) {
        complete(arrival, failure);
    }

    void landed(@Nullable Throwable failure) {
        complete(landing, failure);
    }

    private static void complete(CompletableFuture<Void> end, @Nullable Throwable failure) {
        if (failure == null) {
            end.complete(null);
        } else {
            end.completeExceptionally(failure);
        }
    }
}
