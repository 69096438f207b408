package io.ratelimit.limiter;

import io.ratelimit.concurrent.Futures;
import io.ratelimit.limiter.PermitQueues.BucketName;
import io.ratelimit.store.StoreOutcome;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Holds the calls that wait for permits of one bucket, and decides the first of them whenever permits were released. */
final class PermitQueue {

    private final PermitQueues queues;

    private final BucketName name;

    private final Deque<WaitingCall> calls = new ArrayDeque<>();

    /** Whether the first call is being decided. */
    private boolean deciding;

    /** Whether permits may have been released since the first call was decided last. */
    private boolean signalled;

    /** Whether a later attempt is planned. */
    private boolean polled;

    private boolean forgotten;

    PermitQueue(PermitQueues queues, BucketName name) {
        this.queues = queues;
        this.name = name;
    }

    /** Adds a call at the end, unless the queue was forgotten. */
    synchronized boolean add(WaitingCall call) {
        return !forgotten && calls.add(call);
    }

    /** Removes a call that does not wait any more. */
    void remove(WaitingCall call) {
        synchronized (this) {
            calls.remove(call);
        }
        proceed();
    }

    /** Permits may have been released. */
    void signal() {
        synchronized (this) {
            signalled = true;
        }
        proceed();
    }

    /** Returns whether a later attempt has to be planned: there is one at a time. */
    private synchronized boolean plansAttempt() {
        boolean plans = !polled;
        polled = true;
        return plans;
    }

    /** The time of the planned attempt has come. */
    void poll() {
        synchronized (this) {
            polled = false;
        }
        signal();
    }

    /** Decides the first calls, as long as they get permits. One thread at a time does so. */
    void proceed() {
        for (WaitingCall call = next(); call != null; call = next()) {
            WaitingCall first = call;
            CompletableFuture<StoreOutcome> decided =
                    Futures.start(() -> queues.store().decideAsync(first.request()));
            if (!decided.isDone()) {
                var unused = decided.whenComplete((outcome, thrown) -> {
                    decided(first, outcome, thrown);
                    proceed();
                });
                return;
            }
            var unused = decided.whenComplete((outcome, thrown) -> decided(first, outcome, thrown));
        }
    }

    private synchronized @Nullable WaitingCall next() {
        if (deciding) {
            return null;
        }
        while (!calls.isEmpty() && calls.element().isOver()) {
            calls.remove();
        }
        if (calls.isEmpty()) {
            forgotten = true;
            queues.forget(name, this);
            return null;
        }
        WaitingCall first = calls.element();
        if (first.rejection() != null && !signalled) {
            return null;
        }
        deciding = true;
        signalled = false;
        return first;
    }

    private void decided(WaitingCall call, @Nullable StoreOutcome outcome, @Nullable Throwable thrown) {
        boolean waits = outcome != null && PermitQueues.isWorthWaiting(outcome);
        if (outcome != null && waits) {
            call.reject(outcome);
            if (plansAttempt()) {
                queues.tryLater(this);
            }
        }
        synchronized (this) {
            deciding = false;
            if (!waits) {
                calls.remove(call);
            }
        }
        if (!waits) {
            call.finish(outcome, thrown);
        }
    }
}
