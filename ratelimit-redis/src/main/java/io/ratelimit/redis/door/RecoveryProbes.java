package io.ratelimit.redis.door;

import io.ratelimit.internal.concurrent.PeriodicTask;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Probes the servers whose circuit breaker is open, one after the other: eight probes a second in total, until a server answers.
 * A server that stays silent gets a new connection. All state is confined to one thread, which exists only while there is
 * something to probe. No failure ends the probes; if the next one cannot be scheduled, {@link #start} does it.
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

    private long lastProbe;

    private boolean warned;

    private final ScheduledExecutorService thread;

    private final PeriodicTask probing;

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
        this.probing =
                new PeriodicTask(thread, () -> attempt("find a server to probe", this::probeNext), this::pauseMillis);
        this.nanos = nanos;
        this.lastProbe = nanos.getAsLong() - PAUSE.toNanos();
    }

    /** Probes the server until its breaker is closed. A repeated call restarts probes that have ended, and is harmless otherwise. */
    void start(ServerCircuitBreaker server) {
        execute(() -> {
            silent.putIfAbsent(server, nanos.getAsLong());
            probing.start();
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
        probing.close();
    }

    /** Returns whether there will be no more probes. */
    boolean isStopped() {
        return thread.isShutdown();
    }

    /** The first probe comes at once, because the failure may have been momentary. */
    private long pauseMillis() {
        long left = lastProbe + PAUSE.toNanos() - nanos.getAsLong();
        return silent.isEmpty() ? Long.MAX_VALUE : TimeUnit.NANOSECONDS.toMillis(left);
    }

    private void probeNext() {
        silent.keySet().removeIf(server -> !server.isOpen());
        if (silent.isEmpty()) {
            warned = false;
            return;
        }
        lastProbe = nanos.getAsLong();
        for (ServerCircuitBreaker server : silent.keySet()) {
            if (!server.isProbed()) {
                probe(server);
                return;
            }
        }
    }

    private void probe(ServerCircuitBreaker server) {
        Long since = silent.remove(server);
        boolean impatient = since != null && lastProbe - since >= PATIENCE.toNanos();
        silent.put(server, since == null || impatient ? lastProbe : since);
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
