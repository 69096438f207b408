package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import io.ratelimit.internal.concurrent.Futures;
import io.ratelimit.internal.limit.BucketName;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.KeyDigest;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.spi.Waiter;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Lets calls wait for permits of concurrency limits with a {@code maxWait}. Those of one bucket take their turns in the order of
 * their arrival at this instance. A release of this instance wakes the first one at once. A call with several concurrency limits
 * is in the queue of the first one, and woken by a release of any of them.
 */
final class PermitQueueRegistry {

    /** The largest number of calls that wait at a time; others are rejected. */
    static final int MOST_WAITING = 10_000;

    /**
     * Between two attempts if nothing tells of a release: of an instance that has died, of a call that several stores have decided, and
     * of one of several limits, if it has woken another call, which its other limit keeps waiting.
     */
    private static final Duration POLL = Duration.ofSeconds(1);

    private static final int THREADS = 256;

    private final RateLimitStore store;

    private final Waiter waiter;

    private final Duration patience;

    private final Map<BucketName, PermitQueue> queues = new ConcurrentHashMap<>();

    /** Those with a call that waits. */
    private final Map<BucketDigest, PermitQueue> told = new ConcurrentHashMap<>();

    /** The calls that wait for permits of several limits, and the number of the charge, by each bucket but that of the queue. */
    private final Map<BucketDigest, Map<WaitingCall, Integer>> others = new ConcurrentHashMap<>();

    /** What has replaced a limit, or a plan of it. A call may have read it before, and join its queue after that. */
    private final Map<RateLimit, RateLimit> replaced = Collections.synchronizedMap(new WeakHashMap<>());

    /** How many messages of other instances have come. */
    private final AtomicLong messages = new AtomicLong();

    private final AtomicInteger waiting = new AtomicInteger();

    private final Executor threads = DaemonThreads.createOnDemand("ratelimit-permits", THREADS);

    /** @param patience the longest time that a decision takes */
    PermitQueueRegistry(RateLimitStore store, Waiter waiter, Duration patience) {
        this.store = store;
        this.waiter = waiter;
        this.patience = patience;
    }

    /** Decides after the calls that wait for the same permits, and blocks the thread until then. */
    StoreOutcome decide(StoreRequest request, CallObserver observer) {
        CompletableFuture<StoreOutcome> outcome = decide(request, observer, Runnable::run);
        try {
            BoundedWait.awaitInterruptibly(
                    outcome, WaitingCall.maxWait(request.charges()).plus(patience));
            if (!outcome.isDone()) {
                throw new RateLimitStoreException(Reason.TIMEOUT, "No answer in time", null);
            }
        } catch (InterruptedException ex) {
            abandon(outcome);
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(
                    WaitingCall.first(request.charges()).limit().name(), ex);
        } catch (Throwable ex) {
            abandon(outcome);
            throw ex;
        }
        return BoundedWait.result(outcome);
    }

    /** Ends the wait of a call that does not take place. What it has been given at the last moment comes back. */
    private void abandon(CompletableFuture<StoreOutcome> outcome) {
        outcome.cancel(false);
        var unused = outcome.thenAccept(late -> release(late.refund(), late.charges()));
    }

    /** Refunds charges of a call that is over, and lets calls try again that wait for their permits. */
    void release(Refund refund, List<Charge> charges) {
        // The store releases permits later if it fails now.
        var unused = Futures.start(() -> refund.refund(charges))
                .whenComplete((done, thrown) -> charges.forEach(this::released));
    }

    /** Decides without blocking: see {@link #decide(StoreRequest, CallObserver)}. Cancelling the future ends the wait. */
    CompletableFuture<StoreOutcome> decideAsync(StoreRequest request, CallObserver observer) {
        return decide(request, observer, threads);
    }

    /** @param executor completes the outcome after a wait: that may run code of the application */
    private CompletableFuture<StoreOutcome> decide(StoreRequest request, CallObserver observer, Executor executor) {
        WaitingCall call = new WaitingCall(request, executor, late -> release(late.refund(), late.charges()));
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            var unused = Futures.start(() -> store.decide(request).toStage()).whenComplete(call::finish);
            return call.outcome();
        }
        Charge first = WaitingCall.first(request.charges());
        PermitQueue queue = join(new BucketName(first.limit().id(), first.key()), call);
        request.charges().forEach(charge -> follow(charge.limit(), queue));
        Map<BucketDigest, Integer> further = further(request);
        further.forEach((bucket, charge) -> addTo(bucket, call, charge));
        var unused = call.outcome().whenComplete((outcome, thrown) -> {
            waiting.decrementAndGet();
            further.keySet().forEach(bucket -> removeFrom(bucket, call));
            if (call.outcome().isCancelled()) {
                queue.remove(call);
            }
        });
        queue.proceed();
        call.entered();
        if (!call.isOver()) {
            try {
                limitWait(call, request, observer);
                queue.planAttempt(call);
            } catch (Throwable ex) {
                fail(call, ex);
            }
        }
        return call.outcome();
    }

    /** Ends the wait of the call when its time is over, or now if the time cannot be measured. */
    private void limitWait(WaitingCall call, StoreRequest request, CallObserver observer) {
        Runnable waited = observer.onWait(WaitingCall.first(request.charges()).limit());
        CompletableFuture<Void> time = Futures.start(() -> waiter.awaitAsync(WaitingCall.maxWait(request.charges())));
        var unused = call.outcome().whenComplete((outcome, thrown) -> {
            time.cancel(false);
            waited.run();
        });
        var unusedToo = time.whenComplete((over, thrown) -> {
            if (thrown == null) {
                expire(call);
            } else if (!call.isOver()) {
                fail(call, thrown);
            }
        });
    }

    private static void fail(WaitingCall call, Throwable failure) {
        call.finish(null, failure);
        call.queue().remove(call);
    }

    private PermitQueue join(BucketName name, WaitingCall call) {
        while (true) {
            PermitQueue queue = queues.computeIfAbsent(name, first -> new PermitQueue(this, name));
            if (queue.add(call)) {
                return queue;
            }
        }
    }

    private void follow(RateLimit limit, PermitQueue queue) {
        RateLimit next = replaced.get(limit);
        while (next != null) {
            queue.change(limit, next);
            next = replaced.get(next);
        }
    }

    private void addTo(BucketDigest bucket, WaitingCall call, int charge) {
        others.compute(bucket, (name, known) -> {
            Map<WaitingCall, Integer> calls = known == null ? new LinkedHashMap<>() : known;
            calls.put(call, charge);
            return calls;
        });
    }

    private void removeFrom(BucketDigest bucket, WaitingCall call) {
        others.computeIfPresent(bucket, (name, calls) -> {
            calls.remove(call);
            return calls.isEmpty() ? null : calls;
        });
    }

    /**
     * Rejects a call whose time is over. One that has not been decided yet, because others were before it, is decided now, and one
     * whose charges of limits in dry run came back while it waited: they count for a rejected call, too.
     */
    private void expire(WaitingCall call) {
        if (call.isOver()) {
            return;
        }
        call.queue().remove(call);
        StoreOutcome rejection = call.rejection();
        if (rejection != null && !WaitingCall.isCharged(rejection)) {
            call.complete(rejection);
        } else if (!call.isOver()) {
            var unused =
                    Futures.start(() -> store.decide(call.request()).toStage()).whenComplete(call::finish);
        }
    }

    /** Returns how many calls wait for permits of the limit that other calls hold. */
    long waiting(RateLimit limit) {
        return queues.entrySet().stream()
                .filter(entry -> entry.getKey().limit().equals(limit.id()))
                .mapToLong(entry -> entry.getValue().waiting())
                .sum();
    }

    /** @param wasTold whether it was to {@link #beTold be told} of permits that other instances release */
    void forget(BucketName name, PermitQueue queue, boolean wasTold) {
        queues.remove(name, queue);
        if (wasTold) {
            told.remove(BucketDigest.of(name.limit(), name.key()), queue);
        }
    }

    /** Tells the queue of permits that other instances release, from now on. */
    void beTold(BucketName name, PermitQueue queue) {
        told.put(BucketDigest.of(name.limit(), name.key()), queue);
    }

    /** Returns how many messages of other instances have come. */
    long messages() {
        return messages.get();
    }

    RateLimitStore store() {
        return store;
    }

    /**
     * Lets the first waiting call of the bucket try again.
     *
     * @param charge with the permits that were released; 0 if all were
     */
    void released(Charge charge) {
        BucketName name = new BucketName(charge.limit().id(), charge.key());
        PermitQueue queue = queues.get(name);
        if (queue != null) {
            queue.signal();
        }
        if (!others.isEmpty()) {
            signalOthers(
                    BucketDigest.of(name.limit(), name.key()),
                    charge.permits() == 0 ? Long.MAX_VALUE : charge.permits());
        }
    }

    /** Lets the first calls that lack these permits try again, and no more of them than there are permits. */
    private void signalOthers(BucketDigest bucket, long permits) {
        Set<PermitQueue> lacking = new LinkedHashSet<>();
        Set<PermitQueue> before = new LinkedHashSet<>();
        others.computeIfPresent(bucket, (name, calls) -> {
            for (Map.Entry<WaitingCall, Integer> next : calls.entrySet()) {
                if (lacking.size() >= permits) {
                    break;
                }
                WaitingCall call = next.getKey();
                (call.lacks(next.getValue()) ? lacking : before).add(call.queue());
            }
            return calls;
        });
        before.forEach(PermitQueue::signalIfDeciding);
        lacking.forEach(PermitQueue::signal);
    }

    /**
     * Lets the first waiting call of a bucket try again, in which another instance has released permits.
     *
     * @param limit the id of the limit
     * @param keyDigest the {@link KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    void released(String limit, String keyDigest) {
        messages.incrementAndGet();
        BucketDigest bucket = new BucketDigest(limit, keyDigest);
        PermitQueue queue = told.get(bucket);
        if (queue != null) {
            queue.signal();
        }
        signalOthers(bucket, 1);
    }

    /** Lets calls wait by the attributes that a limit has now. */
    void changed(RateLimit previous, RateLimit next) {
        next.withPlans().forEach(replaced::remove);
        previous.withPlans().forEach(limit -> replaced.put(limit, next));
        queues.values().forEach(queue -> queue.change(previous, next));
    }

    /** Tries again after a while. */
    void tryLater(PermitQueue queue) {
        var unused = Futures.start(() -> waiter.awaitAsync(POLL)).whenComplete((over, thrown) -> {
            queue.forgetAttempt();
            // If no timer could be set, the next rejection tries again.
            if (thrown == null) {
                queue.signal();
            }
        });
    }

    /** Returns the buckets of the other limits whose permits the call waits for, and the number of the charge. */
    private static Map<BucketDigest, Integer> further(StoreRequest request) {
        if (request.charges().size() == 1) {
            return Map.of();
        }
        Map<BucketDigest, Integer> further = new LinkedHashMap<>();
        WaitingCall.waiting(request.charges())
                .skip(1)
                .forEach(i -> further.put(
                        BucketDigest.of(
                                request.charges().get(i).limit().id(),
                                request.charges().get(i).key()),
                        i));
        return further;
    }

    /** Names a bucket as messages do. */
    private record BucketDigest(String limit, String key) {

        static BucketDigest of(String limit, @Nullable String key) {
            return new BucketDigest(limit, KeyDigest.of(key == null ? "" : key));
        }
    }
}
