package io.ratelimit.redis;

import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimitStoreException.Reason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Makes the first connection in a thread of its own, again and again until there is one, so that no caller ever does:
 * callers that connect queue up behind each other. Once made, the driver keeps it.
 */
final class FirstConnection {

    private static final Log logger = LogFactory.getLog(RedisConnector.class);

    /** A driver's first commands in a cold JVM can take longer than its later ones may. */
    private static final int ATTEMPTS_AT_FIRST = 5;

    private static final long PAUSE_MILLIS = 500;

    private final Runnable attempt;

    private final ScheduledExecutorService thread;

    private final AtomicBoolean started = new AtomicBoolean();

    /** Done when the first attempts are over, one way or the other. */
    private final CompletableFuture<Void> tried = new CompletableFuture<>();

    private volatile boolean made;

    private volatile @Nullable RuntimeException failure;

    /** @param attempt throws if it cannot connect */
    FirstConnection(Runnable attempt) {
        this.attempt = attempt;
        this.thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread connecting = new Thread(task, "ratelimit-connect");
            connecting.setDaemon(true);
            return connecting;
        });
    }

    boolean isMade() {
        return made;
    }

    /** Waits for the first attempts, but no longer than that. */
    void await(Duration patience) {
        start();
        try {
            tried.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException | ExecutionException ex) {
            // Whoever needs the connection finds out that it is not there.
        } catch (InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    /** What is to be done follows when there is a connection, or fails when the first attempts have failed. */
    <T> CompletableFuture<T> thenRun(Supplier<? extends CompletionStage<T>> task) {
        start();
        return tried.thenCompose(done -> made ? task.get() : CompletableFuture.failedFuture(missing()));
    }

    /** Nobody waits for it any longer. */
    void stop() {
        thread.shutdownNow();
        tried.complete(null);
    }

    private void start() {
        if (started.compareAndSet(false, true)) {
            try {
                thread.execute(this::tryAtFirst);
            } catch (RejectedExecutionException ex) {
                // Stopped before anybody wanted it.
            }
        }
    }

    private void tryAtFirst() {
        for (int i = 0; i < ATTEMPTS_AT_FIRST && !made; i++) {
            tryOnce();
        }
        tried.complete(null);
        RuntimeException reason = failure;
        if (!made && reason != null && !thread.isShutdown()) {
            logger.warn("There is no connection to Redis yet; rate limits go by on-store-failure until there is: "
                    + NestedExceptionUtils.getMostSpecificCause(reason));
            tryLater();
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // It ends with the thread.
    private void tryLater() {
        thread.scheduleWithFixedDelay(this::tryOnce, PAUSE_MILLIS, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void tryOnce() {
        try {
            attempt.run();
            if (tried.isDone()) {
                logger.info("There is a connection to Redis now");
            }
            made = true;
            thread.shutdown();
        } catch (RuntimeException ex) {
            failure = ex;
        }
    }

    private RuntimeException missing() {
        return thread.isShutdown()
                ? new RateLimitStoreException(Reason.CLOSED, "Redis: not asked, because all is closed", null)
                : new RedisConnectionFailureException("There is no connection to Redis yet", failure);
    }
}
