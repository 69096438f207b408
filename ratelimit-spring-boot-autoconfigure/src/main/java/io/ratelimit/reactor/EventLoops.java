package io.ratelimit.reactor;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.ThreadExecutorMap;
import io.ratelimit.Internal;
import io.ratelimit.internal.concurrent.ServiceThread;
import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/** Detects threads that must not block, because many calls share them: those of Reactor, Netty and the starter. */
@Internal
public final class EventLoops {

    private static final boolean REACTOR = isPresent("reactor.core.scheduler.Schedulers");

    static final boolean NETTY = isPresent("io.netty.channel.EventLoop");

    private EventLoops() {}

    /** Returns whether the current thread must not block. */
    public static boolean isCurrentThread() {
        return ServiceThread.isCurrent()
                || (REACTOR && Reactors.isCurrentThread())
                || (NETTY && Nettys.isCurrentThread());
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, EventLoops.class.getClassLoader());
    }

    /** Loaded only if Reactor is present. */
    private static final class Reactors {

        static boolean isCurrentThread() {
            return Schedulers.isInNonBlockingThread();
        }
    }

    /** Loaded only if Netty is present. */
    private static final class Nettys {

        /** Excludes Netty's blocking pools. Checks the thread's class first, because other threads would allocate a map. */
        static boolean isCurrentThread() {
            return Thread.currentThread() instanceof FastThreadLocalThread
                    && ThreadExecutorMap.currentExecutor() instanceof EventLoop;
        }
    }
}
