package io.ratelimit.internal.store.lease;

import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.store.lease.LeasedPermits.Portion;
import io.ratelimit.spi.Lease;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A lease that the store was asked for. Further calls for the same bucket wait for it, as many as it has permits for: it
 * arrives sooner than an answer to a request of their own. Guarded by the bucket's lock, except its numbers and its end.
 */
final class LeaseRequest {

    /** For threads that wait. Done before {@link #completion}, whose continuations may be slow. */
    private final CompletableFuture<Void> arrival = new CompletableFuture<>();

    private final CompletableFuture<Void> completion = new CompletableFuture<>();

    private final long asked;

    private final List<Lease> before;

    private final long since;

    private long unclaimed;

    private boolean abandoned;

    /** What was taken for all waiting calls. */
    private @Nullable Portion served;

    /**
     * @param before what is left of leases before it, and cannot be used any more
     * @param since the time, in nanoseconds
     */
    LeaseRequest(long asked, List<Lease> before, long since) {
        this.asked = asked;
        this.before = before;
        this.since = since;
        this.unclaimed = asked;
    }

    /** How many permits more it asks for. */
    long asked() {
        return asked;
    }

    List<Lease> before() {
        return before;
    }

    long since() {
        return since;
    }

    /** Claims permits of the lease for another waiting call; returns false if it asks for too few. */
    boolean claim(long permits) {
        if (abandoned || permits > unclaimed) {
            return false;
        }
        unclaimed -= permits;
        return true;
    }

    /** Returns a completed request, with permits taken for the call that would have waited for it. */
    static LeaseRequest completed(Portion taken, List<Lease> before, long nanos) {
        LeaseRequest request = new LeaseRequest(0, before, nanos);
        request.served = taken;
        request.arrived(null);
        request.complete(null);
        return request;
    }

    /**
     * Takes permits for all waiting calls before other calls can: a thread that calls again at once would leave nothing for
     * those that wake up later. Takes nothing if there are too few for all.
     */
    void serve(LeasedPermits brought, long nanos) {
        served = brought.takePortion(claimed(), nanos);
    }

    /** Returns how many permits the waiting calls have claimed. */
    long claimed() {
        return asked - unclaimed;
    }

    /** Returns the outcome for a call that has waited; {@code null} if it has to take permits itself. */
    @Nullable
    StoreOutcome served(StoreRequest call, LongSupplier clock) {
        Portion taken = served;
        return taken == null ? null : taken.of(call.first().permits()).outcome(call, clock);
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

    /** For asynchronous calls. */
    CompletableFuture<Void> completion() {
        return completion;
    }

    void arrived(@Nullable Throwable failure) {
        Futures.complete(arrival, null, failure);
    }

    void complete(@Nullable Throwable failure) {
        Futures.complete(completion, null, failure);
    }
}
