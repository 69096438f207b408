package io.ratelimit.internal.concurrent;

/**
 * A thread of the starter on which the deadlines and leases of all callers depend. Application code does not run on it.
 */
public final class ServiceThread extends Thread {

    public ServiceThread(Runnable task, String name) {
        super(task, name);
        setDaemon(true);
    }

    /** Returns whether the current thread is one. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ServiceThread;
    }
}
