package io.ratelimit.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Calls whose keys one script reaches, in the order of their arrival. One script is under way at a time; the calls that
 * arrive meanwhile go together with the next, so that a caller who is alone waits for nobody.
 */
final class Lane implements Decider {

    /** The most calls of a script, so that other clients of the server have their turn. */
    private static final int MOST = 128;

    private final Queue<PendingCall<?>> waiting;

    private final AtomicBoolean busy = new AtomicBoolean();

    private final Watch watch = new Watch();

    private final Function<Batch, CompletableFuture<List<Long>>> script;

    private final Function<PendingCall<?>, Lane> lanes;

    private final Decider alone;

    /**
     * @param script runs a batch; never throws
     * @param lanes where a call belongs, which may be another place once it is known that there are several
     * @param alone for calls that cannot be decided together
     */
    Lane(Function<Batch, CompletableFuture<List<Long>>> script, Function<PendingCall<?>, Lane> lanes, Decider alone) {
        this(new ConcurrentLinkedQueue<>(), script, lanes, alone);
    }

    /** @param waiting an empty queue that many threads may use at once */
    Lane(
            Queue<PendingCall<?>> waiting,
            Function<Batch, CompletableFuture<List<Long>>> script,
            Function<PendingCall<?>, Lane> lanes,
            Decider alone) {
        this.waiting = waiting;
        this.script = script;
        this.lanes = lanes;
        this.alone = alone;
    }

    @Override
    public void decide(PendingCall<?> call) {
        waiting.add(call);
        if (busy.compareAndSet(false, true)) {
            run();
        }
    }

    private void run() {
        try {
            goOn();
        } catch (Throwable ex) {
            // Such as a stack that ends here. Those who wait are asked about by whoever comes next, or leave in time.
            busy.set(false);
            throw ex;
        }
    }

    private void goOn() {
        do {
            for (Batch batch = next(); batch != null; batch = next()) {
                watch.start(batch);
                CompletableFuture<List<Long>> reply = sent(batch);
                if (!reply.isDone()) {
                    goOnAfter(batch, reply);
                    return;
                }
                finish(batch, reply);
            }
            busy.set(false);
        } while (!waiting.isEmpty() && busy.compareAndSet(false, true));
    }

    private CompletableFuture<List<Long>> sent(Batch batch) {
        try {
            return script.apply(batch);
        } catch (Throwable ex) {
            batch.fail(RedisFailures.of(Servers.REDIS, ex));
            throw ex;
        }
    }

    /** Those who wait to be asked about come before those who wait to be told. */
    private void goOnAfter(Batch batch, CompletableFuture<List<Long>> reply) {
        var unused = reply.whenComplete((numbers, thrown) -> {
            try {
                run();
            } finally {
                finish(batch, reply);
            }
        });
    }

    private @Nullable Batch next() {
        PendingCall<?> first = poll();
        if (first == null) {
            return null;
        }
        PendingCall<?> second = poll();
        if (second == null) {
            return new Batch(List.of(first));
        }
        List<PendingCall<?>> calls = new ArrayList<>();
        calls.add(first);
        for (PendingCall<?> call = second; call != null; call = calls.size() < MOST ? poll() : null) {
            calls.add(call);
        }
        return new Batch(calls);
    }

    /** Passes on those who belong elsewhere, and leaves out those who have left. */
    @SuppressWarnings("ReferenceEquality")
    private @Nullable PendingCall<?> poll() {
        while (true) {
            PendingCall<?> call = waiting.poll();
            if (call == null) {
                return null;
            }
            Lane lane = lanes.apply(call);
            if (lane != this) {
                lane.decide(call);
            } else if (call.deadline().isOver()) {
                call.failUnasked();
            } else {
                return call;
            }
        }
    }

    private void finish(Batch batch, CompletableFuture<List<Long>> reply) {
        var unused = reply.handle((numbers, thrown) -> {
            if (thrown == null) {
                batch.answer(numbers);
            } else if (batch.calls().size() > 1 && RedisFailures.isOfOneCall(thrown)) {
                // Nothing was charged, and each by itself may do.
                batch.calls().forEach(alone::decide);
            } else {
                batch.fail(RedisFailures.of(Servers.REDIS, thrown));
            }
            return null;
        });
    }
}
