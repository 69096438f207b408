package io.ratelimit.reactor;

import io.netty.channel.EventLoop;
import io.netty.util.internal.ThreadExecutorMap;
import io.ratelimit.Internal;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Finds the scheduler on which a publisher continues after a decision of another thread. */
@Internal
public final class ReactorSchedulers {

    private ReactorSchedulers() {}

    /**
     * Returns the event loop of Reactor Netty that runs the current thread, or the parallel scheduler on any other thread. The
     * event loops of a driver do not implement {@link NonBlocking}.
     */
    public static Scheduler eventLoopOrParallel() {
        return EventLoops.NETTY && Thread.currentThread() instanceof NonBlocking
                ? Netty.eventLoopOrParallel()
                : Schedulers.parallel();
    }

    /** Loaded only if Netty is present. */
    private static final class Netty {

        static Scheduler eventLoopOrParallel() {
            return ThreadExecutorMap.currentExecutor() instanceof EventLoop loop
                    ? Schedulers.fromExecutor(loop)
                    : Schedulers.parallel();
        }
    }
}
