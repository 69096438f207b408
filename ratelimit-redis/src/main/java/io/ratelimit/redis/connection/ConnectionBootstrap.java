package io.ratelimit.redis.connection;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.internal.concurrent.BoundedWait;
import io.ratelimit.internal.concurrent.DaemonThreads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Makes the first connection on a thread of its own and repeats the attempt until it succeeds. Callers never connect
 * themselves, because they would queue up behind each other. From then on, the driver keeps the connection. No failure ends the
 * attempts: if the thread cannot be created or the next attempt cannot be scheduled, the next caller starts them again.
 */
final class ConnectionBootstrap {

    private static final System.Logger logger = System.getLogger("io.ratelimit.redis");

    /** The first commands of a driver in a cold JVM can take longer than later ones. */
    private static final int ATTEMPTS_AT_FIRST = 5;

    private static final long PAUSE_MILLIS = 500;

    private final Runnable attempt;

    private final ScheduledExecutorService thread;

    private final AtomicBoolean started = new AtomicBoolean();

    /** Completed when the first attempts have ended, with or without a connection. */
    private final CompletableFuture<Void> tried = new CompletableFuture<>();

    private volatile boolean made;

    private volatile boolean stopped;

    /** Sends or fails calls that have waited. Their continuations may be slow, and the next attempt does not wait for them. */
    private final Executor waiting = DaemonThreads.createService("ratelimit-unconnected", 1, Integer.MAX_VALUE);

    private volatile @Nullable Throwable failure;

    private final String address;

    /** The attempts after the first ones. Accessed by the connecting thread only. */
    private @Nullable Future<?> later;

    /**
     * @param address of Redis, for the log
     * @param attempt connects, or throws
     */
    ConnectionBootstrap(String address, Runnable attempt) {
        this(address, attempt, DaemonThreads.createScheduler("ratelimit-connect"));
    }

    ConnectionBootstrap(String address, Runnable attempt, ScheduledExecutorService thread) {
        this.address = address;
        this.attempt = attempt;
        this.thread = thread;
    }

    /** Returns whether there is a connection. After {@link #stop}, there is none. */
    boolean isMade() {
        return made && !stopped;
    }

    /** Waits for the first attempts, for the given time at most, or until the thread is interrupted. */
    void await(Duration most) {
        start();
        try {
            BoundedWait.awaitInterruptibly(tried, most);
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs the task once there is a connection. The result fails if the first attempts fail. */
    <T> CompletableFuture<T> thenRun(Supplier<? extends CompletionStage<T>> task) {
        start();
        return tried.isDone()
                ? tried.thenCompose(done -> outcome(task))
                : tried.thenComposeAsync(done -> outcome(task), waiting);
    }

    private <T> CompletionStage<T> outcome(Supplier<? extends CompletionStage<T>> task) {
        return isMade() ? task.get() : CompletableFuture.failedFuture(missing());
    }

    /** Ends the attempts and fails the tasks that wait for them. */
    void stop() {
        stopped = true;
        thread.shutdownNow();
        tried.complete(null);
    }

    /** Starts the attempts, if that has not happened yet. */
    void start() {
        if (started.compareAndSet(false, true)) {
            try {
                thread.execute(this::connect);
            } catch (RejectedExecutionException ex) {
                // Stopped before the first call.
            } catch (Throwable ex) {
                failedToStart(ex);
            }
        }
    }

    private void failedToStart(Throwable ex) {
        failure = ex;
        logger.log(
                Level.WARNING,
                "Cannot connect to Redis at " + address + " now (" + ex + "); trying again at the next call");
        started.set(false);
    }

    private void connect() {
        try {
            for (int i = 0; i < ATTEMPTS_AT_FIRST && !made && !tried.isDone(); i++) {
                tryOnce();
            }
            boolean first = tried.complete(null);
            if (!made && !thread.isShutdown()) {
                if (first) {
                    logger.log(
                            Level.WARNING,
                            "No connection to Redis at " + address + " yet (" + cause()
                                    + "); applying on-store-failure until there is one");
                }
                tryLater();
            }
        } catch (Throwable ex) {
            failedToStart(ex);
        }
    }

    private void tryLater() {
        if (later == null) {
            later = thread.scheduleWithFixedDelay(this::tryOnce, PAUSE_MILLIS, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void tryOnce() {
        try {
            attempt.run();
            made = true;
            if (tried.isDone()) {
                logger.log(Level.INFO, "Connected to Redis at " + address);
            }
            thread.shutdown();
        } catch (Throwable ex) {
            failure = ex;
        }
    }

    private @Nullable Throwable cause() {
        Throwable known = failure;
        return known == null ? null : NestedExceptionUtils.getMostSpecificCause(known);
    }

    private RuntimeException missing() {
        return thread.isShutdown()
                ? new RateLimitStoreException(Reason.CLOSED, "Redis: the connections are closed", null)
                : new RedisConnectionFailureException("No connection to Redis at " + address + " yet", failure);
    }
}
