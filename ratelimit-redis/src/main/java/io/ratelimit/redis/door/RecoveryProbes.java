package io.ratelimit.redis.door;

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
 * Probes the servers whose circuit breaker is open, one after the other: eight probes a second in total, until a server answers.
 * A server that stays silent gets a new connection. All state is confined to one thread, which exists only while there is
 * something to probe. No failure ends the probes: each tick continues what the last one began, and if no tick can be scheduled,
 * the next {@link #start} does it.
 */
final class RecoveryProbes {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    private static final Duration PAUSE = Duration.ofMillis(125);

    /** How long a server may stay silent before its connection is replaced. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final Consumer<ServerCircuitBreaker> probe;

    private final Consumer<ServerCircuitBreaker> reconnect;

    /** The servers to probe, the next one first, with the time since which each has its connection. */
    private final Map<ServerCircuitBreaker, Long> silent = new LinkedHashMap<>();

    /** The next tick. Other ticks that are still queued do nothing. */
    private @Nullable Object nextTick;

    private long lastTick;

    private boolean warned;

    private final ScheduledExecutorService thread;

    private final LongSupplier nanos;

    /**
     * @param probe probes a server, without blocking
     * @param reconnect replaces the connection to a server; may block and fail
     * @param thread on which everything runs
     * @param nanos the clock
     */
    RecoveryProbes(
            Consumer<ServerCircuitBreaker> probe,
            Consumer<ServerCircuitBreaker> reconnect,
            ScheduledExecutorService thread,
            LongSupplier nanos) {
        this.probe = probe;
        this.reconnect = reconnect;
        this.thread = thread;
        this.nanos = nanos;
        this.lastTick = nanos.getAsLong() - PAUSE.toNanos();
    }

    /** Probes the server until its breaker is closed. A repeated call restarts probes that have ended, and is harmless otherwise. */
    void start(ServerCircuitBreaker server) {
        execute(() -> {
            silent.putIfAbsent(server, nanos.getAsLong());
            if (nextTick == null) {
                tickLater();
            }
        });
    }

    /** Replaces the connection to a server in the background. */
    void reconnect(ServerCircuitBreaker server) {
        execute(() -> attempt("reconnect to " + server.name(), () -> reconnect.accept(server)));
    }

    private void execute(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException ex) {
            // Stopped.
        }
    }

    void stop() {
        thread.shutdownNow();
    }

    /** Returns whether there will be no more probes. */
    boolean isStopped() {
        return thread.isShutdown();
    }

    /** Schedules the next tick: at once if the last one is long ago, because the failure may have been momentary. */
    private void tickLater() {
        long pause = lastTick + PAUSE.toNanos() - nanos.getAsLong();
        Object tick = new Object();
        try {
            var unused = thread.schedule(() -> tick(tick), pause, TimeUnit.NANOSECONDS);
            nextTick = tick;
        } catch (RejectedExecutionException ex) {
            // Stopped.
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
            attempt("reconnect to " + server.name(), () -> reconnect.accept(server));
        }
        attempt("probe " + server.name(), () -> probe.accept(server));
    }

    private void attempt(String what, Runnable task) {
        try {
            task.run();
        } catch (Throwable ex) {
            boolean expected = ex instanceof RuntimeException || warned;
            logger.log(expected ? Level.DEBUG : Level.WARNING, "Cannot " + what + "; trying again", ex);
            warned |= !expected;
        }
    }
}
