package io.ratelimit.internal.limiter;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.internal.concurrent.BoundedWait;
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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
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

    private final RateLimitStore store;

    private final Waiter waiter;

    private final Map<BucketName, PermitQueue> queues = new ConcurrentHashMap<>();

    /** The calls that were rejected last, and the number of the charge, by each place where they wait for permits. */
    private final Map<Place, Map<WaitingCall, Integer>> rejected = new ConcurrentHashMap<>();

    /** How often permits were released, here or by other instances. */
    private final AtomicLong releaseCount = new AtomicLong();

    /** Whether later attempts are planned. */
    private final AtomicBoolean polls = new AtomicBoolean();

    private final AtomicInteger waiting = new AtomicInteger();

    private final Executor continuations;

    /**
     * Creates a registry without queues.
     *
     * @param continuations runs what follows a wait, which may be code of the application
     */
    PermitQueueRegistry(RateLimitStore store, Waiter waiter, Executor continuations) {
        this.store = store;
        this.waiter = waiter;
        this.continuations = continuations;
    }

    /**
     * Decides after the calls that wait for the same permits, and blocks the thread until then.
     *
     * @param present returns the limit that applies now in the place of one that the call knows
     */
    StoreOutcome decide(StoreRequest request, UnaryOperator<RateLimit> present, CallObserver observer) {
        WaitingCall call = new WaitingCall(request, store, present, Runnable::run, this::release);
        CompletableFuture<StoreOutcome> outcome = call.outcome();
        enqueue(call, observer);
        try {
            // The store has its timeouts. A shorter one here would fail calls of an instance that stands still.
            BoundedWait.awaitInterruptibly(outcome, call.maxWait().plus(RateLimitStore.LONGEST));
            return BoundedWait.result(outcome);
        } catch (InterruptedException ex) {
            abandon(outcome);
            Thread.currentThread().interrupt();
            throw new RateLimitInterruptedException(call.first().limit().name(), ex);
        } catch (Throwable ex) {
            abandon(outcome);
            throw ex;
        }
    }

    /** Ends the wait of a call that does not take place. What it has been given at the last moment comes back. */
    private void abandon(CompletableFuture<StoreOutcome> outcome) {
        outcome.cancel(false);
        var unused = outcome.thenAccept(this::release);
    }

    private void release(StoreOutcome late) {
        release(late.refund(), late.charges());
    }

    /** Refunds charges of a call that is over, and lets calls try again that wait for their permits. */
    void release(Refund refund, List<Charge> charges) {
        // The store releases permits later if it fails now.
        var unused = Futures.start(() -> refund.refund(charges))
                .whenComplete((done, thrown) -> charges.forEach(this::released));
    }

    /** Decides without blocking: see {@link #decide}. Cancelling the future ends the wait. */
    CompletableFuture<StoreOutcome> decideAsync(
            StoreRequest request, UnaryOperator<RateLimit> present, CallObserver observer) {
        WaitingCall call = new WaitingCall(request, store, present, continuations, this::release);
        enqueue(call, observer);
        return call.outcome();
    }

    private void enqueue(WaitingCall call, CallObserver observer) {
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            decide(call);
            return;
        }
        PermitQueue queue = join(call);
        var unused = call.outcome().whenComplete((outcome, thrown) -> {
            waiting.decrementAndGet();
            if (call.outcome().isCancelled()) {
                queue.remove(call);
            }
        });
        queue.proceed();
        call.entered();
        if (!call.isOver()) {
            try {
                limitWait(call, observer);
                planAttempt(call);
            } catch (Throwable ex) {
                fail(call, ex);
            }
        }
    }

    /** Decides a call that is in no queue. */
    private static void decide(WaitingCall call) {
        var unused = call.decide().whenComplete(call::finish);
    }

    /** Ends the wait of the call when its time is over, or now if the time cannot be measured. */
    private void limitWait(WaitingCall call, CallObserver observer) {
        Runnable waited = observer.onWait(call.first().limit());
        CompletableFuture<Void> time = Futures.start(() -> waiter.awaitAsync(call.maxWait()));
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

    private PermitQueue join(WaitingCall call) {
        Charge first = call.first();
        return queues.compute(new BucketName(first.limit().id(), first.key()), (name, known) -> {
            PermitQueue queue = known == null ? new PermitQueue(this, name) : known;
            queue.add(call);
            return queue;
        });
    }

    void forgetIfEmpty(BucketName name) {
        queues.computeIfPresent(name, (same, queue) -> queue.isEmpty() ? null : queue);
    }

    /** Lets a release of any permits that a rejected call waits for find the call, until it is over. */
    void register(WaitingCall call) {
        int first = call.waiting().findFirst().orElseThrow();
        call.waiting().forEach(i -> {
            Charge charge = call.asked().get(i);
            Place place = new Place(charge.limit().id(), digest(charge.key()), i == first);
            rejected.compute(place, (same, known) -> {
                Map<WaitingCall, Integer> calls = known == null ? new LinkedHashMap<>() : known;
                calls.put(call, i);
                return calls;
            });
            var unused = call.outcome()
                    .whenComplete((outcome, thrown) -> rejected.computeIfPresent(place, (same, calls) -> {
                        calls.remove(call);
                        return calls.isEmpty() ? null : calls;
                    }));
        });
    }

    /** Rejects a call whose time is over. One that has not been decided yet, because others were before it, is decided now. */
    private void expire(WaitingCall call) {
        if (!call.queue().expire(call)) {
            return;
        }
        StoreOutcome rejection = call.rejection();
        if (call.isOver()) {
            return;
        }
        if (rejection != null) {
            call.finish(rejection, null);
        } else {
            decide(call);
        }
    }

    /** Returns how many calls wait for permits of the limit that other calls hold. */
    long waiting(RateLimit limit) {
        return queues.entrySet().stream()
                .filter(entry -> entry.getKey().limit().equals(limit.id()))
                .mapToLong(entry -> entry.getValue().waiting())
                .sum();
    }

    /** Returns how often permits were released. */
    long releaseCount() {
        return releaseCount.get();
    }

    /**
     * Lets the first waiting call of the bucket try again.
     *
     * @param charge with the permits that were released; 0 if all were
     */
    void released(Charge charge) {
        releaseCount.incrementAndGet();
        if (!rejected.isEmpty()) {
            long permits = charge.permits() == 0 ? Long.MAX_VALUE : charge.permits();
            signal(charge.limit().id(), digest(charge.key()), permits);
        }
    }

    /**
     * Lets the first waiting call of a bucket try again, in which another instance has released permits.
     *
     * @param limit the id of the limit
     * @param keyDigest the {@link KeyDigest} of the key; of an empty text for the one bucket of all callers
     */
    void released(String limit, String keyDigest) {
        releaseCount.incrementAndGet();
        signal(limit, keyDigest, 1);
    }

    /** @param permits calls in other queues try again, and no more of them than there are permits */
    private void signal(String limit, String keyDigest, long permits) {
        // Those that do not leave at this moment are in one queue.
        signal(new Place(limit, keyDigest, true), Long.MAX_VALUE);
        signal(new Place(limit, keyDigest, false), permits);
    }

    private void signal(Place place, long most) {
        Set<PermitQueue> signalled = new LinkedHashSet<>();
        rejected.computeIfPresent(place, (same, calls) -> {
            for (Map.Entry<WaitingCall, Integer> next : calls.entrySet()) {
                if (signalled.size() >= most) {
                    break;
                }
                PermitQueue queue = next.getKey().queue();
                if (queue.signalIfLacking(next.getKey(), next.getValue())) {
                    signalled.add(queue);
                }
            }
            return calls;
        });
        signalled.forEach(PermitQueue::proceed);
    }

    /** Lets the first waiting call of each bucket try again. */
    void signalAll() {
        queues.values().forEach(PermitQueue::signal);
    }

    /**
     * Plans another attempt of the calls that wait, because permits may be free without a signal. It begins after the wait of the
     * call has: where the clock is moved instead of waiting, that is over at once.
     */
    void planAttempt(WaitingCall call) {
        if (call.hasEntered() && call.rejection() != null && polls.compareAndSet(false, true)) {
            var unused = Futures.start(() -> waiter.awaitAsync(POLL)).whenComplete((over, thrown) -> {
                polls.set(false);
                // If no timer could be set, the next rejection tries again.
                if (thrown == null) {
                    signalAll();
                }
            });
        }
    }

    private static String digest(@Nullable String key) {
        return KeyDigest.of(key == null ? "" : key);
    }

    /**
     * Where a call waits for permits, named as messages do.
     *
     * @param inQueue whether the call is in the queue of the bucket; {@code false}: in that of another one
     */
    private record Place(String limit, String keyDigest, boolean inQueue) {}
}
