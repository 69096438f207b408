package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.spi.StoreOutcome;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Holds the calls that wait for permits of one bucket, and decides the first of them whenever permits were released. */
final class PermitQueue {

    private final PermitQueueRegistry queues;

    private final BucketName name;

    /** In the order of their arrival. Each can leave at any time, such as thousands that are cancelled. */
    private final Set<WaitingCall> calls = new LinkedHashSet<>();

    /** Whether the first call is being decided. */
    private boolean deciding;

    /** Whether permits may have been released since the first call was decided last. */
    private boolean signalled;

    /** Whether a later attempt is planned. */
    private boolean polled;

    /** Whether messages of other instances find this queue: once a call waits. */
    private boolean told;

    /** How many messages other instances had sent when the first call was decided last. */
    private long messages;

    private boolean forgotten;

    /** Whether the call that was decided last lacked permits that other calls hold. */
    private boolean full;

    PermitQueue(PermitQueueRegistry queues, BucketName name) {
        this.queues = queues;
        this.name = name;
    }

    /** Adds a call at the end, unless the queue was forgotten. */
    synchronized boolean add(WaitingCall call) {
        call.join(this);
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

    /** Permits may have been released that the first call did not lack when it was decided before. */
    synchronized void signalIfDeciding() {
        signalled |= deciding;
    }

    /** Lets calls wait by the attributes that a limit has now, such as another capacity. */
    void change(RateLimit previous, RateLimit next) {
        synchronized (this) {
            calls.forEach(call -> call.change(previous, next));
        }
        signal();
    }

    /** Returns how many calls wait for permits, without those whose first decision is under way. */
    synchronized int waiting() {
        return full ? calls.size() : 0;
    }

    /**
     * Plans a later attempt if permits may be free without a signal. It begins after the wait of the call has: where the clock is
     * moved instead of waiting, that is over at once.
     */
    void planAttempt(WaitingCall call) {
        if (call.hasEntered() && call.rejection() != null && plansAttempt(call)) {
            queues.tryLater(this);
        }
    }

    /** Returns whether a later attempt has to be planned: there is one at a time. */
    private synchronized boolean plansAttempt(WaitingCall call) {
        boolean plans = !polled && calls.contains(call);
        polled |= plans;
        return plans;
    }

    /** The planned attempt takes place, or does not, so that another can be planned. */
    synchronized void forgetAttempt() {
        polled = false;
    }

    /** Decides the first calls, as long as they get permits. One thread at a time does so. */
    void proceed() {
        for (WaitingCall call = next(); call != null; call = next()) {
            WaitingCall first = call;
            CompletableFuture<StoreOutcome> decided = Futures.start(
                            () -> queues.store().decide(first.request()).toStage())
                    .thenCompose(outcome -> withoutTrials(first, outcome));
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
    }

    /**
     * Returns the outcome. If the call has to wait, what limits in dry run have taken comes back before: it will be taken again,
     * and a limit must not lack what it has given to the same call.
     */
    private static CompletionStage<StoreOutcome> withoutTrials(WaitingCall call, StoreOutcome outcome) {
        return WaitingCall.isCharged(outcome) && call.isWorthWaiting(outcome)
                ? Futures.start(() -> outcome.refund().refund(outcome.charges()))
                        .handle((done, failed) -> outcome)
                : CompletableFuture.completedFuture(outcome);
    }

    private synchronized @Nullable WaitingCall next() {
        if (deciding) {
            return null;
        }
        WaitingCall first = first();
        if (first == null) {
            forgotten = true;
            queues.forget(name, this, told);
            return null;
        }
        if (first.rejection() != null && !signalled) {
            return null;
        }
        deciding = true;
        signalled = false;
        messages = queues.messages();
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
        try {
            if (outcome != null && waits) {
                call.reject(outcome);
                planAttempt(call);
            }
        } finally {
            synchronized (this) {
                deciding = false;
                full = waits;
                if (waits) {
                    beTold();
                } else {
                    calls.remove(call);
                }
            }
        }
        if (!waits) {
            call.finish(outcome, thrown);
        }
    }

    /** Lets messages find this queue. One that has come since the decision may have been about it. */
    private void beTold() {
        if (!told) {
            told = true;
            queues.beTold(name, this);
            signalled |= queues.messages() != messages;
        }
    }
}
