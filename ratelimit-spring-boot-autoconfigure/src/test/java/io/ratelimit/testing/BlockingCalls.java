package io.ratelimit.testing;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.Assertions;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingMethod;
import reactor.blockhound.BlockingOperationError;
import reactor.core.scheduler.Schedulers;

/**
 * Sees calls that block a thread which must not be blocked: one of Reactor's parallel and single schedulers, or of
 * Netty's event loops. BlockHound stays in the JVM once it is there, so it is ignored except while an action runs: the
 * tests that follow are what they were without it.
 *
 * <p>A call that is seen goes on. An error in its place would leave a lock or a queue of the JDK half-way, with a waiter that
 * no longer exists: all later tasks of such a thread would wait forever, in this test or in one hours later.
 */
public final class BlockingCalls {

    private static volatile Queue<BlockingOperationError> seen;

    /** They were in methods that BlockHound has replaced since, so it does not know where they may block. */
    private static final Set<Thread> EARLIER_THREADS;

    static {
        // All of the stack trace is needed to see what has blocked.
        Assertions.setMaxStackTraceElementsDisplayed(100);
        // What a line of the log is written to, and how, is the application's choice.
        BlockHound.install(builder -> builder.allowBlockingCallsInside("ch.qos.logback.classic.Logger", "callAppenders")
                .allowBlockingCallsInside("java.util.logging.Logger", "log")
                // Lettuce's writers wait for one another, and for a connection to be given up, only that long.
                .allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters")
                .blockingMethodCallback(BlockingCalls::onBlockingCall));
        EARLIER_THREADS = Set.copyOf(Thread.getAllStackTraces().keySet());
        // Reactor's next threads are looked at.
        Schedulers.shutdownNow();
    }

    private BlockingCalls() {}

    /**
     * Has BlockHound installed, which takes long on a busy machine. To be called before all tests of a class: the timeout of a
     * test would interrupt it, and no test after it could use this class.
     */
    public static void install() {
        // The static initializer has done it.
    }

    /** What blocked while this ran, on threads that did not exist before the first use of this class. */
    public static List<BlockingOperationError> during(Runnable action) {
        Queue<BlockingOperationError> ours = new ConcurrentLinkedQueue<>();
        seen = ours;
        try {
            action.run();
        } finally {
            seen = null;
        }
        return List.copyOf(ours);
    }

    private static void onBlockingCall(BlockingMethod method) {
        Queue<BlockingOperationError> current = seen;
        if (current != null && !EARLIER_THREADS.contains(Thread.currentThread())) {
            current.add(new BlockingOperationError(method));
        }
    }
}
