package io.ratelimit.concurrent;

/**
 * A thread of the library's own, on which deadlines and leases of all callers depend. Code of applications does not run on
 * it.
 */
public final class ServiceThread extends Thread {

    public ServiceThread(Runnable task, String name) {
        super(task, name);
        setDaemon(true);
    }

    /** Whether the current thread is one. */
    public static boolean isCurrent() {
        return Thread.currentThread() instanceof ServiceThread;
    }
}
