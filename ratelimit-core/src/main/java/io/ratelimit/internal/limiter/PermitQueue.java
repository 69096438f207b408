package io.ratelimit.internal.limiter;

import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.spi.StoreOutcome;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Holds the calls that wait for permits of one bucket, and decides the first of them whenever permits were released. */
final class PermitQueue {

    private final PermitQueueRegistry queues;

    private final BucketName name;

    /** In the order of their arrival. Each can leave at any time, such as thousands that are cancelled. */
    private final Set<WaitingCall> calls = new LinkedHashSet<>();

    /** The call that is being decided; {@code null}: none is. */
    private @Nullable WaitingCall deciding;

    /** Whether permits may have been released since the first call was decided last. */
    private boolean signalled;

    /** How often permits had been released when the first call was decided last. */
    private long releases;

    /** Whether the call that was decided last lacked permits that other calls hold. */
    private boolean full;

    PermitQueue(PermitQueueRegistry queues, BucketName name) {
        this.queues = queues;
        this.name = name;
    }

    synchronized void add(WaitingCall call) {
        call.join(this);
        calls.add(call);
    }

    /** Returns whether nothing waits here or is being decided. */
    synchronized boolean isEmpty() {
        return deciding == null && calls.isEmpty();
    }

    /** Removes a call that does not wait any more. */
    void remove(WaitingCall call) {
        synchronized (this) {
            calls.remove(call);
        }
        proceed();
    }

    /**
     * Removes a call whose time is over.
     *
     * @return whether the call is to end now; {@code false}: it is being decided, and ends with that decision, which may have taken permits
     */
    boolean expire(WaitingCall call) {
        boolean endsNow;
        synchronized (this) {
            calls.remove(call);
            call.expire();
            endsNow = deciding != call;
        }
        proceed();
        return endsNow;
    }

    /** Permits may have been released. */
    void signal() {
        synchronized (this) {
            signalled = true;
        }
        proceed();
    }

    /**
     * Permits may have been released that a call lacks, or will by the decision under way. Returns whether it lacks them now.
     *
     * @param charge the number of the charge
     */
    synchronized boolean signalIfLacking(WaitingCall call, int charge) {
        signalled |= deciding != null;
        boolean lacks = call.lacks(charge);
        signalled |= lacks;
        return lacks;
    }

    /** Returns how many calls wait for permits, without those whose first decision is under way. */
    synchronized int waiting() {
        return full ? calls.size() : 0;
    }

    /** Decides the first calls, as long as they get permits. One thread at a time does so. */
    void proceed() {
        for (WaitingCall call = next(); call != null; call = next()) {
            WaitingCall first = call;
            CompletableFuture<StoreOutcome> decided = first.decide();
            if (!decided.isDone()) {
                var unused = decided.whenComplete((outcome, thrown) -> {
                    try {
                        decided(first, outcome, thrown);
                    } finally {
                        proceed();
                    }
                });
                return;
            }
            var unused = decided.whenComplete((outcome, thrown) -> decided(first, outcome, thrown));
        }
        queues.forgetIfEmpty(name);
    }

    private synchronized @Nullable WaitingCall next() {
        WaitingCall first = deciding == null ? first() : null;
        if (first == null || (first.rejection() != null && !signalled)) {
            return null;
        }
        deciding = first;
        signalled = false;
        releases = queues.releaseCount();
        return first;
    }

    private @Nullable WaitingCall first() {
        Iterator<WaitingCall> inOrder = calls.iterator();
        while (inOrder.hasNext()) {
            WaitingCall call = inOrder.next();
            if (!call.isOver()) {
                return call;
            }
            inOrder.remove();
        }
        return null;
    }

    private void decided(WaitingCall call, @Nullable StoreOutcome outcome, @Nullable Throwable thrown) {
        boolean waits = outcome != null && call.isWorthWaiting(outcome);
        boolean unregistered = call.rejection() == null;
        try {
            if (outcome != null && waits) {
                call.reject(outcome);
                if (unregistered) {
                    queues.register(call);
                }
                queues.planAttempt(call);
            }
        } finally {
            synchronized (this) {
                deciding = null;
                waits &= !call.isExpired();
                full = waits;
                if (waits) {
                    // A release before the call was registered may have been of permits that it lacks.
                    signalled |= unregistered && queues.releaseCount() != releases;
                } else {
                    calls.remove(call);
                }
            }
        }
        if (!waits) {
            call.finish(outcome, thrown);
        }
    }
}
