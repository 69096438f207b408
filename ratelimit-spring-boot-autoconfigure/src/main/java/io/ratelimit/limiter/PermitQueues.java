package io.ratelimit.limiter;

import io.ratelimit.Charge;
import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.Waiter;
import io.ratelimit.concurrent.BoundedWait;
import io.ratelimit.concurrent.DaemonThreads;
import io.ratelimit.concurrent.Futures;
import io.ratelimit.store.KeyDigest;
import io.ratelimit.store.RateLimitStore;
import io.ratelimit.store.StoreOutcome;
import io.ratelimit.store.StoreRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Lets calls wait for permits of concurrency limits with a {@code maxWait}. Those of one bucket take their turns in the order of
 * their arrival at this instance. A release of this instance wakes the first one at once.
 */
final class PermitQueues {

    /** The largest number of calls that wait at a time; others are rejected. */
    static final int MOST_WAITING = 10_000;

    /** Between two attempts if nothing tells of a release, such as that of an instance that has died. */
    private static final Duration POLL = Duration.ofSeconds(1);

    private static final int THREADS = 256;

    private final RateLimitStore store;

    private final Waiter waiter;

    private final Duration patience;

    private final Map<BucketName, PermitQueue> queues = new ConcurrentHashMap<>();

    private final AtomicInteger waiting = new AtomicInteger();

    private final Executor threads = DaemonThreads.create("ratelimit-permits", THREADS, Integer.MAX_VALUE);

    /** @param patience the longest time that a decision takes */
    PermitQueues(RateLimitStore store, Waiter waiter, Duration patience) {
        this.store = store;
        this.waiter = waiter;
        this.patience = patience;
    }

    /** Returns whether the call waits if its only obstacle are permits that other calls hold. */
    static boolean isFor(List<Charge> charges) {
        return charges.stream().anyMatch(PermitQueues::waits);
    }

    private static boolean waits(Charge charge) {
        RateLimit limit = charge.limit();
        return !limit.hasRate() && !limit.maxWait().isZero() && !limit.dryRun();
    }

    /** Decides after the calls that wait for the same permits, and blocks the thread until then. */
    StoreOutcome decide(StoreRequest request, CallObserver observer) {
        CompletableFuture<StoreOutcome> outcome = decide(request, observer, Runnable::run);
        try {
            BoundedWait.awaitInterruptibly(outcome, maxWait(request).plus(patience));
        } catch (InterruptedException ex) {
            abandon(outcome);
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(first(request).limit().name(), ex);
        }
        if (!outcome.isDone()) {
            abandon(outcome);
            throw new RateLimitStoreException(Reason.TIMEOUT, "No answer in time", null);
        }
        return BoundedWait.result(outcome);
    }

    /** Ends the wait of a call that does not take place. What it has been given at the last moment comes back. */
    private void abandon(CompletableFuture<StoreOutcome> outcome) {
        outcome.cancel(false);
        var unused = outcome.thenAccept(late -> late.refund()
                .refund(late.charges())
                .whenComplete((done, thrown) -> late.charges().forEach(this::released)));
    }

    /** Does the same as {@link #decide(StoreRequest, CallObserver)} without blocking. Cancelling the future ends the wait. */
    CompletableFuture<StoreOutcome> decideAsync(StoreRequest request, CallObserver observer) {
        return decide(request, observer, threads);
    }

    /** @param executor completes the outcome after a wait: that may run code of the application */
    private CompletableFuture<StoreOutcome> decide(StoreRequest request, CallObserver observer, Executor executor) {
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            return Futures.start(() -> store.decideAsync(request));
        }
        WaitingCall call = new WaitingCall(request, executor);
        PermitQueue queue = join(BucketName.of(first(request)), call);
        queue.proceed();
        call.entered();
        if (!call.isOver()) {
            Runnable waited = observer.onWait(first(request).limit());
            CompletableFuture<Void> time = waiter.awaitAsync(maxWait(request)).toCompletableFuture();
            var unused = time.thenRun(() -> expire(queue, call));
            var unusedToo = call.outcome().whenComplete((outcome, thrown) -> {
                time.cancel(false);
                waited.run();
            });
        }
        var unused = call.outcome().whenComplete((outcome, thrown) -> {
            waiting.decrementAndGet();
            if (call.outcome().isCancelled()) {
                queue.remove(call);
            }
        });
        return call.outcome();
    }

    private PermitQueue join(BucketName name, WaitingCall call) {
        while (true) {
            PermitQueue queue = queues.computeIfAbsent(name, first -> new PermitQueue(this, name));
            if (queue.add(call)) {
                return queue;
            }
        }
    }

    /** Rejects a call whose time is over. One that has not been decided yet, because others were before it, is decided now. */
    private void expire(PermitQueue queue, WaitingCall call) {
        queue.remove(call);
        StoreOutcome rejection = call.rejection();
        if (rejection != null) {
            call.complete(rejection);
        } else if (!call.isOver()) {
            var unused = Futures.start(() -> store.decideAsync(call.request())).whenComplete(call::finish);
        }
    }

    void forget(BucketName name, PermitQueue queue) {
        queues.remove(name, queue);
    }

    RateLimitStore store() {
        return store;
    }

    /** Lets the first waiting call of the bucket try again. */
    void released(Charge charge) {
        PermitQueue queue = queues.get(BucketName.of(charge));
        if (queue != null) {
            queue.signal();
        }
    }

    /**
     * Lets the first waiting call of a bucket try again, in which another instance has released permits.
     *
     * @param limit the id of the limit
     * @param keyDigest the {@link KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    void released(String limit, String keyDigest) {
        queues.forEach((name, queue) -> {
            if (name.limit.equals(limit) && name.digest().equals(keyDigest)) {
                queue.signal();
            }
        });
    }

    /** Tries again after a while, because a store that is shared has permits that are released elsewhere. */
    void tryLater(PermitQueue queue) {
        if (!store.isNonBlocking()) {
            var unused = waiter.awaitAsync(POLL).thenRun(queue::poll);
        }
    }

    /** Returns whether the permits that other calls hold are all that the call lacks. */
    static boolean isWorthWaiting(StoreOutcome outcome) {
        boolean rejected = false;
        List<Charge> charges = outcome.charges();
        for (int i = 0; i < charges.size(); i++) {
            RateLimitDecision decision = outcome.decisions().get(i);
            Charge charge = charges.get(i);
            if (!decision.allowed() && !charge.limit().dryRun()) {
                if (!waits(charge) || decision.retryAfter() == null) {
                    return false;
                }
                rejected = true;
            }
        }
        return rejected;
    }

    private static Charge first(StoreRequest request) {
        return request.charges().stream()
                .filter(PermitQueues::waits)
                .findFirst()
                .orElseThrow();
    }

    private static Duration maxWait(StoreRequest request) {
        return request.charges().stream()
                .filter(PermitQueues::waits)
                .map(charge -> charge.limit().maxWait())
                .min(Duration::compareTo)
                .orElseThrow();
    }

    record BucketName(String limit, @Nullable String key) {

        BucketName {
            Objects.requireNonNull(limit);
        }

        String digest() {
            return KeyDigest.of(key == null ? "" : key);
        }

        static BucketName of(Charge charge) {
            return new BucketName(charge.limit().id(), charge.key());
        }
    }
}
