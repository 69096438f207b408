package io.ratelimit.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Threads of a test that wait until it interrupts them. */
public final class WaitingThreads {

    /** Long enough to be noticed, and then to be a failure. */
    public static final Duration FOREVER = Duration.ofHours(1);

    private static final long PATIENCE_SECONDS = 60;

    private final ThreadFactory factory;

    private final List<Thread> threads = new ArrayList<>();

    private final List<CompletableFuture<End>> ends = new ArrayList<>();

    /**
     * How a thread ended.
     *
     * @param thrown {@code null}: not at all
     * @param interrupted whether it was then marked as interrupted
     */
    public record End(Throwable thrown, boolean interrupted) {}

    public WaitingThreads() {
        this(Thread::new);
    }

    public WaitingThreads(ThreadFactory factory) {
        this.factory = factory;
    }

    /** Virtual ones where the JDK has them. */
    public static ThreadFactory virtualIfPossible() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (NoSuchMethodException ex) {
            return Thread::new;
        } catch (ReflectiveOperationException ex) {
            throw new LinkageError(ex.getMessage(), ex);
        }
    }

    public void start(Runnable call) {
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread thread = factory.newThread(() -> {
            Throwable thrown = null;
            try {
                call.run();
            } catch (Throwable ex) {
                thrown = ex;
            }
            end.complete(new End(thrown, Thread.currentThread().isInterrupted()));
        });
        thread.setDaemon(true);
        threads.add(thread);
        ends.add(end);
        thread.start();
    }

    /** Returns when all are parked with a deadline: blocked or waiting for one another is not enough. */
    public void awaitParked() {
        long start = System.nanoTime();
        while (!threads.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING)) {
            if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                throw new AssertionError("Not all are parked: "
                        + threads.stream().map(Thread::getState).toList());
            }
            Thread.onSpinWait();
        }
    }

    /** Interrupts all, and returns when they have ended. */
    public List<End> interrupt() {
        threads.forEach(Thread::interrupt);
        return ends();
    }

    /** Returns when all have ended. */
    public List<End> ends() {
        return ends.stream()
                .map(end -> end.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join())
                .toList();
    }
}
