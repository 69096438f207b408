package io.ratelimit.redis;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Asks the servers that are known not to answer whether they do again: one after the other, eight times a second
 * altogether. To one that stays silent, another connection is made. There is a thread only while there is trouble, and
 * all that follows is its own.
 */
final class Probes {

    private static final Log logger = LogFactory.getLog(Probes.class);

    private static final Duration PAUSE = Duration.ofMillis(125);

    /** How long a connection is given to be of use again. */
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final Function<Node, CompletableFuture<?>> probe;

    private final Consumer<Node> renew;

    private final Queue<Node> next = new ArrayDeque<>();

    /** The servers that do not answer, and since when each has had its connection. */
    private final Map<Node, Long> silent = new HashMap<>();

    private boolean ticking;

    private long lastTick;

    private final ScheduledExecutorService thread;

    private final LongSupplier nanos;

    /**
     * @param probe asks a server, without blocking
     * @param renew makes the connection to a server anew; may block, and fail
     * @param thread in which all is done
     * @param nanos a clock
     */
    Probes(
            Function<Node, CompletableFuture<?>> probe,
            Consumer<Node> renew,
            ScheduledExecutorService thread,
            LongSupplier nanos) {
        this.probe = probe;
        this.renew = renew;
        this.thread = thread;
        this.nanos = nanos;
        this.lastTick = nanos.getAsLong() - PAUSE.toNanos();
    }

    /** A thread that is there only while it has something to do. */
    static ScheduledExecutorService thread() {
        ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread probing = new Thread(task, "ratelimit-probe");
            probing.setDaemon(true);
            return probing;
        });
        thread.setKeepAliveTime(5, TimeUnit.SECONDS);
        thread.allowCoreThreadTimeOut(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return thread;
    }

    /** Asks the server until it answers. */
    void start(Node node) {
        run(() -> {
            if (silent.putIfAbsent(node, nanos.getAsLong()) == null) {
                enqueue(node);
            }
        });
    }

    void stop() {
        thread.shutdownNow();
    }

    private void enqueue(Node node) {
        next.add(node);
        if (!ticking) {
            ticking = true;
            tickLater();
        }
    }

    /** At once, if there was none for long enough: the trouble may have been a moment's. */
    private void tickLater() {
        long pause = lastTick + PAUSE.toNanos() - nanos.getAsLong();
        try {
            var unused = thread.schedule(this::tick, pause, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException ex) {
            // Stopped: nobody wants to know any more.
        }
    }

    private void tick() {
        Node node = next.poll();
        if (node == null) {
            ticking = false;
            return;
        }
        lastTick = nanos.getAsLong();
        tickLater();
        var unused = ask(node).whenComplete((answer, thrown) -> run(() -> probed(node)));
    }

    /** One that cannot even be asked is asked again like others. */
    private CompletableFuture<?> ask(Node node) {
        try {
            return probe.apply(node);
        } catch (RuntimeException ex) {
            return CompletableFuture.failedFuture(ex);
        }
    }

    private void probed(Node node) {
        if (!node.isOpen()) {
            silent.remove(node);
            return;
        }
        if (nanos.getAsLong() - silent.getOrDefault(node, 0L) >= PATIENCE.toNanos()) {
            renew(node);
            silent.put(node, nanos.getAsLong());
        }
        enqueue(node);
    }

    private void renew(Node node) {
        try {
            renew.accept(node);
        } catch (RuntimeException ex) {
            logger.debug("No new connection to " + node.name() + " yet", ex);
        }
    }

    private void run(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException ex) {
            // As above.
        }
    }
}
