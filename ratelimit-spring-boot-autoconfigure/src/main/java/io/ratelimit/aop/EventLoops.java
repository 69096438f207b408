package io.ratelimit.aop;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.ThreadExecutorMap;
import io.ratelimit.concurrent.ServiceThread;
import org.springframework.util.ClassUtils;
import reactor.core.scheduler.Schedulers;

/** Knows the threads that must not block, because many calls share them: Reactor's, Netty's event loops, and our own. */
public final class EventLoops {

    private static final boolean REACTOR = isPresent("reactor.core.scheduler.Schedulers");

    private static final boolean NETTY = isPresent("io.netty.channel.EventLoop");

    private EventLoops() {}

    /** Whether the current thread is one of them. */
    public static boolean isCurrentThread() {
        return ServiceThread.isCurrent()
                || (REACTOR && Reactors.isCurrentThread())
                || (NETTY && Nettys.isCurrentThread());
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, EventLoops.class.getClassLoader());
    }

    /** Apart, because Reactor may be absent. */
    private static final class Reactors {

        static boolean isCurrentThread() {
            return Schedulers.isInNonBlockingThread();
        }
    }

    /** Apart, because Netty may be absent. */
    private static final class Nettys {

        /** Netty has pools, too, whose threads may wait. To ask a thread that is not Netty's would cost it memory. */
        static boolean isCurrentThread() {
            return Thread.currentThread() instanceof FastThreadLocalThread
                    && ThreadExecutorMap.currentExecutor() instanceof EventLoop;
        }
    }
}
