package io.ratelimit.internal.concurrent;

import org.jspecify.annotations.Nullable;

/**
 * A thread of the starter on which the deadlines and leases of all callers depend. Application code does not run on it. It inherits
 * no thread-locals of its first caller.
 */
public final class ServiceThread extends Thread {

    ServiceThread(Runnable task, String name, @Nullable ClassLoader loader) {
        super(null, task, name, 0, false);
        setContextClassLoader(loader);
        setDaemon(true);
    }

    /** Returns whether the current thread is one. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ServiceThread;
    }
}
