package io.ratelimit.testing;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.assertj.core.api.Assertions;
import reactor.blockhound.BlockHound;
import reactor.blockhound.BlockingMethod;
import reactor.blockhound.BlockingOperationError;

/**
 * Sees calls that block a thread which must not be blocked: one of Reactor's parallel and single schedulers, or of
 * Netty's event loops. BlockHound stays in the JVM once it is there, so it is ignored except while an action runs: the
 * tests that follow are what they were without it.
 */
public final class BlockingCalls {

    private static volatile Queue<BlockingOperationError> seen;

    static {
        // All of the stack trace is needed to see what has blocked.
        Assertions.setMaxStackTraceElementsDisplayed(100);
        // What a line of the log is written to, and how, is the application's choice.
        BlockHound.install(builder -> builder.allowBlockingCallsInside("ch.qos.logback.classic.Logger", "callAppenders")
                .allowBlockingCallsInside("java.util.logging.Logger", "log")
                // Lettuce's writers wait for one another, and for a connection to be given up, only that long.
                .allowBlockingCallsInside("io.lettuce.core.protocol.SharedLock", "incrementWriters")
                .blockingMethodCallback(BlockingCalls::onBlockingCall));
    }

    private BlockingCalls() {}

    /**
     * What blocked while this ran. The call itself fails as well; but whoever lives with a store that fails lives with
     * that too, so only what is returned here tells.
     */
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
        if (current != null) {
            BlockingOperationError error = new BlockingOperationError(method);
            current.add(error);
            throw error;
        }
    }
}
