package io.ratelimit.redis;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Probes the servers whose circuit breaker is open until it is closed: one after the other, eight probes a second altogether.
 * If a server stays silent, it gets another connection. There is a thread only while there is something to probe, and all
 * state is confined to it. Nothing that is thrown ends the probes: what a tick has begun, the next one takes up, and if no
 * tick can be scheduled, the next {@link #start} does.
 */
final class RecoveryProbes {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration PAUSE = Duration.ofMillis(125);

    /** How long a connection is given to be of use again. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final Consumer<ServerCircuitBreaker> probe;

    private final Consumer<ServerCircuitBreaker> renew;

    /** The servers to probe, the next one first, and since when each has had its connection. */
    private final Map<ServerCircuitBreaker, Long> silent = new LinkedHashMap<>();

    /** The tick that comes next; another one that is still queued does nothing. */
    private @Nullable Object nextTick;

    private long lastTick;

    private boolean warned;

    private final ScheduledExecutorService thread;

    private final LongSupplier nanos;

    /**
     * @param probe probes a server, without blocking
     * @param renew makes the connection to a server anew; may block, and fail
     * @param thread in which all is done
     * @param nanos a clock
     */
    RecoveryProbes(
            Consumer<ServerCircuitBreaker> probe,
            Consumer<ServerCircuitBreaker> renew,
            ScheduledExecutorService thread,
            LongSupplier nanos) {
        this.probe = probe;
        this.renew = renew;
        this.thread = thread;
        this.nanos = nanos;
        this.lastTick = nanos.getAsLong() - PAUSE.toNanos();
    }

    /** Probes the server until its breaker is closed. Once more does no harm, and takes up what has ended. */
    void start(ServerCircuitBreaker server) {
        try {
            thread.execute(() -> {
                silent.putIfAbsent(server, nanos.getAsLong());
                if (nextTick == null) {
                    tickLater();
                }
            });
        } catch (RejectedExecutionException ex) {
            // Stopped: nobody wants to know any more.
        }
    }

    void stop() {
        thread.shutdownNow();
    }

    /** At once, if there was none for long enough: the failure may have been a moment's. */
    private void tickLater() {
        long pause = lastTick + PAUSE.toNanos() - nanos.getAsLong();
        Object tick = new Object();
        try {
            var unused = thread.schedule(() -> tick(tick), pause, TimeUnit.NANOSECONDS);
            nextTick = tick;
        } catch (RejectedExecutionException ex) {
            // As above.
        }
    }

    private void tick(Object tick) {
        if (tick != nextTick) {
            return;
        }
        nextTick = null;
        attempt("find a server to probe", this::probeNext);
        if (!silent.isEmpty()) {
            tickLater();
        }
    }

    private void probeNext() {
        silent.keySet().removeIf(server -> !server.isOpen());
        if (silent.isEmpty()) {
            warned = false;
            return;
        }
        lastTick = nanos.getAsLong();
        for (ServerCircuitBreaker server : silent.keySet()) {
            if (!server.isProbed()) {
                probe(server);
                return;
            }
        }
    }

    private void probe(ServerCircuitBreaker server) {
        Long since = silent.remove(server);
        boolean impatient = since != null && lastTick - since >= PATIENCE.toNanos();
        silent.put(server, since == null || impatient ? lastTick : since);
        if (impatient) {
            attempt("make a new connection to " + server.name(), () -> renew.accept(server));
        }
        attempt("probe " + server.name(), () -> probe.accept(server));
    }

    private void attempt(String what, Runnable task) {
        try {
            task.run();
        } catch (Throwable ex) {
            boolean expected = ex instanceof RuntimeException || warned;
            logger.log(expected ? Level.DEBUG : Level.WARNING, "Could not " + what + ", trying again", ex);
            warned |= !expected;
        }
    }
}
