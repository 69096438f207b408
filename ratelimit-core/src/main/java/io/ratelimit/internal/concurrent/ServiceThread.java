package io.ratelimit.internal.concurrent;

/**
 * A thread of the starter on which the deadlines and leases of all callers depend. Application code does not run on it. It inherits
 * no thread-locals of its first caller.
 */
public final class ServiceThread extends Thread {

    public ServiceThread(Runnable task, String name) {
        super(null, task, name, 0, false);
        // Without thread-locals, later versions of Java do not inherit it either.
        setContextClassLoader(Thread.currentThread().getContextClassLoader());
        setDaemon(true);
    }

    /** Returns whether the current thread is one. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ServiceThread;
    }
}
